/* All traces of one run of functrace. */
#ifndef FT_RECORD_RUN_H
#define FT_RECORD_RUN_H

#include "engine/settings.h"
#include "record/trace.h"

struct engine;
struct packer;
struct trace_report;
struct function_names;
struct texts;
struct namer;

/* Files of the traces of this run, for trace_file.c. */
struct trace_files {
	/* the process whose first trace is written to -o's FILE or to standard output; 0: none yet */
	pid_t first;
	/* keys of the files that this run has written, computed from device and inode */
	struct hash written;
	struct hash next;      /* pid -> number of the next trace of this pid */
	uint32_t unseen;       /* number of processes whose traces the live view did not get (view_pipe.c) */
	struct packer *packer; /* packer for all traces; NULL if they are not compressed */
};

/* How names are found for the traces of a run (put_records.c). */
struct run_naming {
	struct namer *namer;       /* looks up names for all traces; NULL before the first trace needs it */
	unsigned late_ends;        /* number of consecutive traces that ended before their names were known */
	uint64_t waited_let_go_ns; /* time spent waiting for names since the request to detach */
};

/* The sums of a run that the summary reports (run_summary.c). */
struct run_sums {
	struct trace_report *reports;
	/* unread: number of objects that could not be read; unread_reported: number of them that were reported one by
	 * one */
	size_t report_count, report_capacity, unread, unread_reported;
	struct counts totals;
	/* indexed by the kind's id; NULL before the first trace is reported */
	struct kind_counts *kind_totals;
	bool attached, may_miss; /* attached: some trace has attached_to; may_miss: some trace has may_miss */
	/* number of children that were detached because of -F, or because this build does not support their
	 * processor */
	size_t untraced_children;
	size_t lost_attach;
	/* broken_traces: number of traces that could not be written to their end. unbegun_traces: number of traces that
	 * could not be begun, so that their processes run on untraced. */
	size_t broken_traces, unbegun_traces;
	size_t begun_traces; /* number of traces that were begun */
	/* number of patterns for functions that matched no function in any process */
	size_t unmatched_patterns;
	size_t attachment_failures; /* number of files that could not be attached */
	size_t silent_children;     /* number of fork's children without an event, which have no trace */
	size_t without_figures;     /* number of traces of memory without figures of the heap */
	const char *why_without;    /* why the first of them has no figures; a static string */
};

/* How the calls of allocators' functions are seen (run_probes.c). */
struct run_probes {
	struct probed_function *functions;
	size_t count, capacity;
	char *missing;   /* why there are no probes in the kernel; NULL: there are, or they are not wanted */
	uint64_t vforks; /* number of children of vfork whose calls were not seen before they executed a program */
};

/* The line on the terminal that shows how a run proceeds (progress.c). */
struct run_progress {
	bool shows_progress;
	uint64_t started_ns; /* time at which functrace attached, in ns of CLOCK_MONOTONIC */
};

struct run {
	const struct settings *set;
	struct engine *engine;
	bool paused, was_paused, was_resumed;
	bool has_begun;  /* functrace has launched the target, or has attached to it */
	bool has_broken; /* functrace is to detach from a process whose trace is broken */
	int exit_status;
	struct trace *traces;
	struct trace_files files;
	struct function_names *functions; /* released_blocks.c */
	struct texts *texts;              /* string_pool.c */
	struct run_naming naming;
	struct run_sums sums;
	struct run_progress progress;
	struct run_probes probes;
};

#endif
