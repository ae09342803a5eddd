/* What the live view shows at a moment: the stacks of one kind of resource, of all processes, in an order. */
#ifndef FT_LIVE_VIEW_H
#define FT_LIVE_VIEW_H

#include "base/buf.h"
#include "live/live_view.h"
#include "live/watched.h"

enum live_order { ORDER_BYTES, ORDER_GROWTH, ORDER_LAST, ORDER_CALLS, ORDER_BLOCKS, ORDER_AGE, ORDER_LOST, ORDERS };

struct view_row {
	struct watched *of;
	const struct site *site;
	size_t processes; /* more than one: these blocks from before are those of so many together */
	struct tally live;
	int64_t grown,
		grown_last; /* bytes (or blocks where these say nothing) since the baseline, since the last look */
	double calls;       /* a second, since the last look */
	uint64_t oldest;    /* of what is alive: nanoseconds or calls */
	struct tally lost;  /* of that, what the newest scan has found lost */
	bool is_before;     /* what is older than the trace */
	uint32_t pid;
};

struct view {
	const struct live_options *options;
	pthread_mutex_t lock;       /* of all that follows, which the reading threads change */
	struct watched **processes; /* in the order in which they came, that of -t first */
	size_t process_count, process_capacity;
	struct names *names;     /* whose files those of the processes share */
	struct profile *profile; /* whose frames the names are */
	uint64_t ended_events;
	uint64_t unseen, ended; /* processes: whose traces did not reach this view; that have ended and are left out */
	bool has_all;           /* no other processes come */
	/* The showing thread's own: */
	char **kinds;                           /* types of resources, in the order in which they came up */
	size_t kind_count, kind_capacity, kind; /* and the one that is shown */
	bool has_baseline; /* what grew is counted from a key's moment on, not from the start; that was: */
	double baseline_at;
	enum live_order order;
	char filter[64]; /* only stacks with a function, object or file that has it, or of that process; "" all */
	struct view_row *rows;
	size_t row_count, row_capacity;
	double seconds; /* between the last two looks */
	/* Of the resource and all processes, at the last look: */
	struct tally live, peak; /* peak: of one process; those of several are not at the same time */
	int64_t grown;
	double calls;
	uint64_t events, left_out; /* `left_out`: calls that came unread */
	size_t shown;              /* processes */
	bool has_times;            /* `age` and those of rows are in nanoseconds */
	uint64_t age;              /* of the oldest trace: nanoseconds or calls */
	bool has_scan;             /* there was one, of which these are, of what is alive still: */
	struct tally lost;         /* definitely or indirectly */
	struct tally possibly;
	size_t scanned;          /* processes that these figures are of */
	const char *scan_reason; /* why nothing is known of a process; "" where it is */
	uint32_t scan_pid;       /* of which */
	double scan_age;         /* seconds; the oldest */
};

/* Looks at what is there now; the lock is taken meanwhile. `seconds`: since the last time; 0: only the order and the
 * filter may have changed. */
void view_look(struct view *view, double seconds);
/* What grew is counted from now on. */
void view_set_baseline(struct view *view);
/* The next kind of resource. */
void view_next_resource(struct view *view);
/* The type of the resource that is shown; "?" before there is one. */
const char *view_kind(const struct view *view);
/* Whether bytes are what counts there; else blocks. */
bool view_has_bytes(const struct view *view);
/* Whether rows are of several processes. */
bool view_has_several(const struct view *view);
/* Whether all traces have ended; *reason: why, if one was not at its end (the view's), else NULL. */
bool view_has_ended(struct view *view, const char **reason);
/* Names all frames of a row, into row->of->resolver.frames, which stay until the next call. The lock is taken. */
void view_frames(struct view *view, const struct view_row *row);
/* Asks the tracer for a scan: each process is stopped for a moment, and what is lost comes with the traces. NULL, or
 * why it cannot be: a static text. */
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
/* Since when what grew is counted, as a clause: "since the start", "since the baseline 12 s ago". */
const char *since_text(const struct view *view, char text[static 64]);
/* The processes: "postgres, process 24990 and 8 more (2 have ended)". */
void processes_text(struct view *view, struct buf *text);
/* The process of a row where there are several: "13363"; "9 pids". */
const char *row_pid_text(const struct view_row *row, char text[static 32]);

#endif
