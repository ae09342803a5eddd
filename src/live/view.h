/* What the live view shows at a moment: the stacks of one kind of resource, in an order. */
#ifndef FT_LIVE_VIEW_H
#define FT_LIVE_VIEW_H

#include "live/live.h"
#include "profile/profile.h"
#include "profile/resolve.h"

#include <pthread.h>

enum live_order { ORDER_BYTES, ORDER_GROWTH, ORDER_LAST, ORDER_CALLS, ORDER_BLOCKS, ORDER_AGE, ORDER_LOST, ORDERS };

/* What a site was at an earlier look. */
struct site_look {
	struct tally live;
	uint64_t calls;
};

/* Of a kind of resource, by the numbers of its sites. */
struct looks {
	struct site_look *base, *last; /* at the baseline, at the last look */
	size_t count;
	struct tally base_live; /* of all */
	struct tally before;    /* what censuses have found so far, which is no growth */
	uint64_t last_calls;
	uint64_t scans;      /* that were there at the last look */
	uint64_t scanned_ns; /* when the newest of them was seen, on the monotonic clock */
};

struct row {
	const struct site *site;
	struct tally live;
	int64_t grown,
		grown_last; /* bytes (or blocks where these say nothing) since the baseline, since the last look */
	double calls;       /* a second, since the last look */
	uint64_t oldest;    /* of what is alive: nanoseconds or calls */
	struct tally lost;  /* of that, what the newest scan has found lost */
};

struct view {
	const struct live_options *options;
	struct reader *reader;
	pthread_mutex_t lock; /* of all that follows, which the reading thread changes */
	struct account account;
	struct profile *profile; /* whose frames the names are */
	struct resolver resolver;
	char *program, *program_path; /* view_program()'s, and of which file */
	uint64_t epoch;               /* of the object map that the resolver's names are of */
	uint64_t unread;              /* calls that the trace lacks, because this view did not read */
	bool has_ended;               /* the trace; the reading thread is done */
	const char *reason;           /* why, if it was not its end */
	/* The showing thread's own: */
	struct looks *looks; /* by the resource's place in account.resources */
	size_t looks_count;
	size_t resource; /* that is shown */
	enum live_order order;
	char filter[64]; /* only stacks with a function, object or file that has it; "" all */
	struct row *rows;
	size_t row_count, row_capacity;
	double seconds; /* between the last two looks */
	/* Of the resource, at the last look: */
	struct tally live, peak;
	int64_t grown;
	double calls;
	uint64_t events, left_out; /* `left_out`: calls that came unread */
	bool has_scan;             /* there was one, of which these are, of what is alive still: */
	struct tally lost;         /* definitely or indirectly */
	struct tally possibly;
	const char *scan_reason; /* why nothing is known; "" where it is */
	double scan_age;         /* seconds */
};

/* Looks at what is there now; the lock is taken meanwhile. `seconds`: since the last time; 0: only the order and the
 * filter may have changed. */
void view_look(struct view *view, double seconds);
/* What grew is counted from now on. */
void view_set_baseline(struct view *view);
/* The next kind of resource. */
void view_next_resource(struct view *view);
const struct resource_state *view_resource(const struct view *view);
/* Whether bytes are what counts there; else blocks. */
bool view_has_bytes(const struct view *view);
/* The name that the program was started by where that can be known, else that of its file; NULL: no program yet. */
const char *view_program(struct view *view);
/* An object's name for people: of the program as view_program(), of others that of the file. */
const char *view_module_name(struct view *view, const char *path);
/* Names all frames, into view->resolver.frames, which stay until the next call. The lock is taken. */
void view_frames(struct view *view, const struct site *site);
/* Asks the tracer for a scan: the process stands for a moment, and what is lost comes with the trace. NULL, or why it
 * cannot be: a static text. */
const char *view_ask_for_scan(struct view *view);
enum view_file { VIEW_REPORT, VIEW_PAGE };
/* Writes the report or the page of what is there now to a new file in this folder, whose name the caller frees; NULL
 * and errno. */
char *view_write(struct view *view, enum view_file which);
void view_free(struct view *view);

/* One of the two ways to show it, until it ends. 0 or EXIT_FAILURE after a message. */
int live_lines(struct view *view);
int live_screen(struct view *view);

/* -1,234 and +1,234, into `text`. */
const char *signed_text(int64_t number, char text[static 32]);
/* What calls that came unread mean for the figures that are shown, into `text`, which it returns. */
const char *left_out_text(const struct view *view, char text[static 160]);
/* "1.5 s", "12 min"; calls where there are no times. */
const char *age_text(const struct view *view, uint64_t age, char text[static 32]);

#endif
