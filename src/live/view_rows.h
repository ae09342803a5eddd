/* What the live view shows at a moment: the stacks of one kind of resource, of all processes, in an order. */
#ifndef FT_LIVE_VIEW_ROWS_H
#define FT_LIVE_VIEW_ROWS_H

#include "base/buf.h"
#include "live/live_view.h"
#include "live/watched.h"

enum live_order { ORDER_BYTES, ORDER_GROWTH, ORDER_LAST, ORDER_CALLS, ORDER_BLOCKS, ORDER_AGE, ORDER_LOST, ORDERS };

struct view_row {
	struct watched *of;
	const struct site *site;
	size_t processes; /* more than 1: the row joins the blocks from before the trace of this many */
	struct tally live;
	int64_t grown, grown_last; /* bytes (blocks, if there are no bytes) since the baseline, since the last look */
	double calls;              /* per second, since the last look */
	uint64_t oldest;           /* age of the oldest live block, in nanoseconds or calls */
	struct tally lost;         /* the part of `live` that the newest scan has found lost */
	bool is_before;            /* blocks from before the trace */
	uint32_t pid;
};

struct view {
	const struct live_options *options;
	pthread_mutex_t lock;       /* of the members up to has_all, which the reading threads change */
	struct watched **processes; /* in the order in which they came, but that of -t first */
	size_t process_count, process_capacity;
	struct names *names;     /* the processes' names share its files */
	struct profile *profile; /* owns the named frames */
	uint64_t ended_events;
	uint64_t unseen, ended; /* processes whose traces did not reach this view; ended processes that are left out */
	bool has_all;           /* no more processes will come */
	/* The members from here on are the showing thread's own. */
	char **kinds;                           /* types of resources, in the order in which they came */
	size_t kind_count, kind_capacity, kind; /* kind: the one that is shown */
	bool has_baseline; /* growth is counted from a key press at baseline_at, not from the start */
	double baseline_at;
	enum live_order order;
	char filter[64]; /* only stacks with this in a function, object or file, or of this pid; "": all */
	struct view_row *rows;
	size_t row_count, row_capacity;
	double seconds; /* between the last two looks */
	/* The figures of the shown resource in all processes, at the last look. */
	struct tally live, peak; /* peak: of one process; several have their peaks at different times */
	int64_t grown;
	double calls;
	uint64_t events, left_out; /* left_out: calls that were not read */
	size_t shown;              /* number of processes */
	bool has_times;            /* `age` and the ages of rows are in nanoseconds */
	uint64_t age;              /* of the oldest trace: nanoseconds or calls */
	bool has_scan;             /* there was a scan; its figures are of what is still alive: */
	struct tally lost;         /* definitely or indirectly */
	struct tally possibly;
	size_t scanned;          /* number of processes in these figures */
	const char *scan_reason; /* why the scan of a process has no result; "" if all have one */
	uint32_t scan_pid;       /* of that process */
	double scan_age;         /* seconds since the oldest scan */
};

/* Computes what is shown. Takes the lock. seconds: since the last look; 0: only the order and the filter may have
 * changed. */
void view_look(struct view *view, double seconds);
/* Counts growth from now on. */
void view_set_baseline(struct view *view);
/* Shows the next kind of resource. */
void view_next_resource(struct view *view);
/* Returns the type of the resource that is shown, or "?" before there is one. */
const char *view_kind(const struct view *view);
/* Returns true if the figures of that resource are bytes, false if they are blocks. */
bool view_has_bytes(const struct view *view);
/* Returns true if there are rows of several processes. */
bool view_has_several(const struct view *view);
/* Returns true if all traces have ended. *reason: why, if one was not at its end (the view's text), else NULL. */
bool view_has_ended(struct view *view, const char **reason);
/* Names all frames of a row in row->of->resolver.frames, which is valid until the next call. Takes the lock. */
void view_frames(struct view *view, const struct view_row *row);
/* Asks the tracer for a scan, for which it stops each process for a moment. The traces then contain what is lost.
 * Returns NULL, or a static text that says why there can be no scan. */
const char *view_ask_for_scan(struct view *view);
enum view_file { VIEW_REPORT, VIEW_PAGE };
/* Writes the report or the page about the present state to a new file in the current folder. Returns its name, which
 * the caller frees, or NULL and errno. */
char *view_write(struct view *view, enum view_file which);
void view_free(struct view *view);

/* Shows the view until it ends, in one of two ways. Returns 0, or EXIT_FAILURE after a message. */
int live_lines(struct view *view);
int live_screen(struct view *view);

/* Writes -1,234 or +1,234 to `text`, and returns it. */
const char *signed_text(int64_t number, char text[static 32]);
/* Writes to `text`, and returns, what calls that were not read mean for the figures that are shown. */
const char *left_out_text(const struct view *view, char text[static 160]);
/* Writes "1.5 s" or "12 min" to `text`, and returns it; a number of calls if there are no times. */
const char *age_text(const struct view *view, uint64_t age, char text[static 32]);
/* Writes to `text`, and returns, since when growth is counted: "since the start", "since the baseline, 12 s ago". */
const char *since_text(const struct view *view, char text[static 64]);
/* Appends the processes: "postgres, process 24990 and 8 more, 2 ended". */
void processes_text(struct view *view, struct buf *text);
/* Writes the process of a row to `text`, and returns it: "13363"; "9 pids". */
const char *row_pid_text(const struct view_row *row, char text[static 32]);

#endif
