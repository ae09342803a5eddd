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

/* Where the traces of this run go: trace_file.c. */
struct trace_files {
	pid_t first;           /* the process whose first trace is -o's FILE or standard output; 0 if none yet */
	struct hash written;   /* keys made of device and inode: the files that this run has written */
	struct hash next;      /* pid -> number of its next trace */
	uint32_t unseen;       /* number of processes whose traces the view did not get: view_pipe.c */
	struct packer *packer; /* compresses all traces; NULL if they are not compressed */
};

struct run {
	const struct settings *set;
	struct engine *engine;
	bool paused, was_paused, was_resumed;
	bool has_begun;  /* the program has been started or attached, and its trace has begun */
	bool has_broken; /* there is a process to let go of, because its trace is broken */
	int exit_status;
	struct trace *traces;
	struct trace_files files;
	struct function_names *functions; /* released_blocks.c */
	struct texts *texts;              /* string_pool.c */

	/* put_records.c */
	struct namer *namer;       /* looks up names for all traces; NULL before the first needs it */
	unsigned late_ends;        /* traces in a row that ended before their names were known */
	uint64_t waited_let_go_ns; /* time spent waiting for names since the request to let go */

	/* For the summary (run_summary.c) */
	struct trace_report *reports;
	size_t report_count, report_capacity, unread, unread_reported; /* objects that could not be read */
	struct counts totals;
	struct kind_counts *kind_totals; /* by the kind's id; NULL before the first trace is reported */
	bool attached, may_miss;         /* true for at least one trace */
	size_t untraced_children; /* let go of because of -F, or of a processor that this build does not support */
	size_t lost_attach;
	size_t broken_traces,
		unbegun_traces; /* traces that broke off, and that could not begin; their processes went on untraced */
	size_t unmatched_patterns;  /* of functions, that matched nothing anywhere */
	size_t attachment_failures; /* files that could not be attached */
	size_t silent_children;     /* fork's children without an event, which have no trace */
	size_t without_figures;     /* traces of memory without figures of the heap */
	const char *why_without;    /* the reason of the first of these; a static text */

	/* progress.c */
	bool shows_progress;
	uint64_t started_ns; /* CLOCK_MONOTONIC when functrace attached */
};

#endif
