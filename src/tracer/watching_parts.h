/* What the files of --watch share. */
#ifndef FT_TRACER_WATCHING_PARTS_H
#define FT_TRACER_WATCHING_PARTS_H

#include "tracer/process.h"
#include "tracer/watching_stacks.h"
#include "record/trace_output.h"
#include "watch/recent.h"

#define WATCHING_LOOK_LEAST_NS (2 * NS_PER_SECOND) /* least time between two looks */

struct watching_result;

/* What the watch has cost since it began, in ns. */
struct watching_spent {
	uint64_t own_before; /* CPU time of functrace when the watch began */
	uint64_t own_saved;  /* that of earlier runs of functrace that watched the process */
	uint64_t target;     /* time that was taken from the target: estimated for calls, measured for pauses */
	uint64_t longest_ns; /* the longest pause */
};

/* What the process does: a window slows it down, so the time in windows is not the share of its work. Times in ns. */
struct watching_work {
	uint64_t threads;                  /* which threads it had: watching_work.c */
	uint64_t cpu, sleeps;              /* its CPU time, and how often it has slept, when the window was opened */
	uint64_t sleeps_closed, closed_at; /* when the last window was closed */
	double sleep_rate;                 /* sleeps in a ns between the two */
	/* of all windows: the time for which it would have to run longer to do as much as without probes, and the rest
	 * of their time */
	uint64_t delayed_ns, in_windows;
};

/* What the last looks at the heap have found, for estimates. */
struct watching_heap {
	bool is_known;                  /* there was a look */
	const char *allocator;          /* its name; NULL: unknown */
	const char *reason;             /* why the last copy has failed; NULL: it has not */
	const char *scan_reason;        /* why the last scan has failed; NULL: it has not, or there was none */
	bool is_direct;                 /* the heap cannot be copied, so only the contents of samples are looked at */
	double rate;                    /* bytes that are copied in a ns */
	double bytes, blocks, lost;     /* in use; `lost` is WATCH_UNKNOWN without a scan */
	double first_bytes;             /* in use at the first look */
	uint64_t limit;                 /* bytes that can be copied within a pause */
	uint64_t cost_ns, scan_cost_ns; /* pace_cost() of looks without and with a scan */
	uint64_t looked_wall,
		scanned_wall;   /* when the heap was last looked at and scanned, since the Epoch; 0: never */
	struct hash first_lost; /* class -> lost blocks at the first scan */
	bool has_first_lost;
	bool keeps_first;  /* first_bytes is known */
	unsigned failures; /* looks that failed, one after another */
};

/* The program that a process executes, for comparisons: an execve changes it. All 0: unknown. */
struct watching_image {
	uint64_t stack;         /* beginning of the stack, which the kernel chooses at random */
	uint64_t device, inode; /* of the program's file */
};

/* The watch of one process. */
struct watching {
	struct call_sink sink; /* first, because the sink's functions get its address */
	struct process *p;     /* NULL: it has ended */
	struct watch *watch;
	struct watch_recent *recent;
	struct watching_stacks *stacks;
	struct watching_spent spent;
	struct watching_heap heap;
	uint64_t began, began_wall; /* CLOCK_MONOTONIC; since the Epoch */
	uint64_t result_wall;       /* when the last interval ended */
	uint64_t process_start;     /* since the Epoch */
	struct watching_image image;
	unsigned sharers; /* number of watches among which functrace's CPU time is divided */
	bool is_open;     /* a window is open */
	bool is_started;  /* process_start_running() was called */
	struct watching_work work;
	uint64_t opened_at; /* when the window was opened */
	uint64_t own_begin; /* watching_own_ns() when the window began */
	uint64_t window_at, window_end, window_ns, period_at, look_at, result_at, scan_at, interval_ns;
	double cycle_cost;            /* mean cost of a window with all that belongs to it, in ns */
	uint64_t spent_before;        /* watching_spent_ns() when the cycle began */
	uint64_t calls, calls_before; /* calls that were seen; before the window */
	size_t windows, looks;
	uint64_t random;
	struct watching_result *result; /* in progress; the watch and the stacks belong to it; NULL: none */
	struct watching_result *last;   /* begins when `result` is taken; NULL: none */
	struct watching *next;
};

/* In watching_windows.c: the sink's take(). */
void watching_take_call(struct call_sink *sink, const struct event *e, enum call_kind kind);
/* Opens and closes a window. */
void watching_open_window(struct watching *one);
void watching_close_window(struct watching *one);
/* In watching_work.c. To be called when a window was opened, and when it was closed. delay_ns: the time by which its
 * probes have delayed the process. */
void watching_work_begin(struct watching *one, uint64_t now);
void watching_work_end(struct watching *one, uint64_t now, uint64_t delay_ns);
/* Returns the work that the process has done since the watch began: the time that it would have taken untraced. */
uint64_t watching_work(const struct watching *one);
/* Returns what the watch has taken so far from the target and from functrace's own CPUs, in ns. */
uint64_t watching_spent_ns(const struct watching *one);
uint64_t watching_own_ns(const struct watching *one);

/* In watching_looks.c: looks at the heap. with_scan: also finds lost blocks. Acts on stops meanwhile, so that the
 * process may end. Returns false if nothing is left to trace. */
bool watching_look(struct watching *one, bool with_scan);
/* Returns the class that a look would give to a block of this size; 0: unknown. */
uint32_t watching_class(const struct watching *one, uint64_t size);
/* Reads the contents of the samples at the end of a window. */
void watching_end_window(struct watching *one, uint64_t now, uint64_t work);
void watching_heap_free(struct watching_heap *heap);

/* In watching_results.c: begins to compute an interval's result in the background. Until watching_result_take() has
 * returned true, the watch and the stacks must not be used. is_last: there may be a result in progress, after which
 * this one begins. how: the reason of the end, as call_sink.end() gets it; may be NULL. */
void watching_result_begin(struct watching *one, void *outputs, bool is_last, const char *how);
bool watching_result_take(struct watching *one);

#endif
