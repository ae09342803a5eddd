/* The state that the live view shows: the stacks of one kind of resource, of all processes, in some order. */
#ifndef FT_LIVE_VIEW_ROWS_H
#define FT_LIVE_VIEW_ROWS_H

#include "base/buf.h"
#include "live/live_view.h"
#include "live/watched.h"

enum live_order { ORDER_BYTES, ORDER_GROWTH, ORDER_LAST, ORDER_CALLS, ORDER_BLOCKS, ORDER_AGE, ORDER_LOST, ORDERS };

struct view_row {
	struct watched *of;
	const struct site *site;
	size_t processes; /* number of processes; above 1 only in the row of the blocks from before the traces */
	struct tally live;
	/* growth in bytes (in blocks if sizes mean nothing): since the start or the view's baseline, and over
	 * view->seconds */
	int64_t grown, grown_last;
	double calls;      /* calls per second, over view->seconds */
	uint64_t oldest;   /* age of the oldest live block, in nanoseconds or calls */
	struct tally lost; /* the part of `live` that the newest scan has found lost */
	bool is_before;    /* blocks from before the trace */
	uint32_t pid;
	/* Figures of an interval (struct record_estimate); then `grown` is the growth in an hour. NULL: counts. */
	const struct site_estimate *estimate;
};

struct view {
	const struct live_options *options;
	pthread_mutex_t lock;       /* protects the members up to has_all, which the reading threads change */
	struct watched **processes; /* in the order of their arrival, but the process that -t names comes first */
	size_t process_count, process_capacity;
	struct names *names;     /* its files are shared by the names of the processes */
	struct profile *profile; /* owner of the frames with names */
	uint64_t ended_events;
	/* number of processes whose traces were not received; number of ended processes that are left out */
	uint64_t unseen, ended;
	bool has_all; /* no more processes will be added */
	/* Only the thread that shows the view uses the members from here on. */
	char **kinds;                           /* types of resources, in the order in which they were found */
	size_t kind_count, kind_capacity, kind; /* kind: index of the shown type */
	bool has_baseline;                      /* growth is counted from baseline_at (key b), not from the start */
	double baseline_at;
	enum live_order order;
	/* text that must be in a function, object or file of the stack, or the pid of the process; "": all are shown */
	char filter[64];
	struct view_row *rows;
	size_t row_count, row_capacity;
	double interval; /* time between the last two updates, in seconds */
	double seconds;  /* time that `calls` and grown_last cover: `interval` plus the time since the last update */
	/* Figures of all processes, computed together with the rows. `live`, `peak`, `grown` and `calls` are of the
	 * shown kind of resource. */
	struct tally live, peak; /* peak: of one process; several processes have their peaks at different times */
	int64_t grown;
	double calls;
	uint64_t events, left_out; /* left_out: number of calls that were not read */
	size_t shown;              /* number of processes */
	bool has_intervals;        /* the figures are those of intervals, mostly estimates */
	const char *basis;         /* a sentence about what they rest on; NULL: unknown */
	bool has_times;            /* `age`, and the ages of rows, are in nanoseconds */
	uint64_t age;              /* length of the longest trace in nanoseconds or calls */
	/* there was a scan; the figures below are of blocks that the scans found lost, and that are still live */
	bool has_scan;
	struct tally lost; /* definitely or indirectly lost */
	struct tally possibly;
	size_t scanned;          /* number of processes with the result of a scan */
	const char *scan_reason; /* why a scan has no result; "" if all have one */
	uint32_t scan_pid;       /* pid of the process without a result */
	double scan_age;         /* seconds since the oldest of the scans */
};

/* Computes the rows and figures for an update. Takes the lock. seconds: time since the last update. */
void view_update(struct view *view, double seconds);
/* Computes the rows and figures again between two updates, because the order, the filter, the kind or the baseline has
 * changed. Takes the lock. passed: seconds since the last update. */
void view_arrange(struct view *view, double passed);
/* Sets the view's baseline (key b): growth is counted from now on. This is not the baseline of a trace. */
void view_set_baseline(struct view *view);
/* Shows the next kind of resource. */
void view_next_resource(struct view *view);
/* Returns the type of the shown kind of resource; returns "?" before there is one. */
const char *view_kind(const struct view *view);
/* Returns true if the figures of the shown kind of resource are bytes, false if they are blocks. */
bool view_has_bytes(const struct view *view);
/* Returns true if the view has rows of several processes. */
bool view_has_several(const struct view *view);
/* Returns true if all traces have ended. If one was cut before its end, sets *reason to the error (owned by the view),
 * else to NULL. */
bool view_has_ended(struct view *view, const char **reason);
/* Finds the names of all frames of a row, and stores the frames in row->of->resolver.frames, which is valid until the
 * next call. Takes the lock. */
void view_frames(struct view *view, const struct view_row *row);
/* Asks the tracer for a scan. The tracer then stops each process for a moment, and writes the results into the traces.
 * Returns NULL, or a static text with the reason why no scan is possible. */
const char *view_ask_for_scan(struct view *view);
enum view_file { VIEW_REPORT, VIEW_PAGE };
/* Writes the report or the page for the present state to a new file in the current folder. Returns the file's name,
 * which the caller frees; on failure returns NULL and sets errno. */
char *view_write(struct view *view, enum view_file which);
void view_free(struct view *view);

/* These show the view until it ends, as lines or on a terminal. They return 0, or EXIT_FAILURE after a message. */
int live_lines(struct view *view);
int live_screen(struct view *view);

/* Writes a number with its sign to `text`, and returns it: "-1,234", "+1,234". */
const char *signed_text(int64_t number, char text[static 32]);
/* Writes to `text` a sentence that says how calls that were not read affect the shown figures, and returns `text`. */
const char *left_out_text(const struct view *view, char text[static 160]);
/* Writes an age to `text`, and returns it: "1.5 s", "12 min"; a number of calls if the traces have no times. */
const char *age_text(const struct view *view, uint64_t age, char text[static 32]);
/* Appends what is alive, and its growth: "memory: 5,508 bytes in 55 blocks alive, +5,300 since the start". For a kind
 * without sizes appends the number alone: "fd: 21 alive, +21 since the baseline, 12 s ago". */
void live_text(const struct view *view, struct buf *text);
/* Appends a list of the processes: "postgres, process 24990 and 8 more, 2 ended". */
void processes_text(struct view *view, struct buf *text);
/* Writes the process of a row to `text`, and returns it: "13363"; for several processes "9 pids". */
const char *row_pid_text(const struct view_row *row, char text[static 32]);

#endif
