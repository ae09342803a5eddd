/* All traces of one run of functrace. */
#ifndef FT_RECORD_RUN_H
#define FT_RECORD_RUN_H

#include "engine/settings.h"
#include "record/trace.h"

struct engine;
struct packer;
struct report;
struct function_names;
struct texts;
struct namer;

/* Where the traces of this run go: trace_file.c. */
struct trace_files {
	pid_t first;           /* the process whose first trace is -o's FILE, or standard output; 0 none yet */
	struct hash written;   /* device and inode of what this run writes */
	struct hash next;      /* pid -> number of its next trace */
	uint32_t unseen;       /* view_pipe.c: processes whose traces the view has not been given */
	struct packer *packer; /* compresses them all; NULL: none is */
};

struct run {
	const struct settings *set;
	struct engine *engine;
	bool paused, was_paused, was_resumed;
	bool has_begun;  /* the program has been started, or attached to, with its trace */
	bool has_broken; /* a process whose trace is broken is to be let go of */
	int exit_status;
	struct trace *traces;
	struct trace_files files;
	struct function_names *functions; /* released_blocks.c */
	struct texts *texts;              /* string_pool.c */

	/* put.c */
	struct namer *namer;       /* looks up names of all traces; NULL: there is none yet */
	unsigned late_ends;        /* traces in a row that ended before their names were known */
	uint64_t waited_let_go_ns; /* for names, since letting go was asked for */

	/* For the summary: run_summary.c. */
	struct report *reports;
	size_t report_count, report_capacity, unread, unread_reported; /* objects that could not be read */
	struct counts totals;
	struct kind_counts *kind_totals; /* by the kind's id; NULL before the first trace is reported */
	bool attached, may_miss;         /* any trace */
	size_t untraced_children;        /* let go of: -F, or of a processor this build does not know */
	size_t lost_attach;
	size_t broken_traces, unbegun_traces; /* of processes that went on untraced, in the midst and from the start */
	size_t unmatched_patterns;            /* of functions: none was found anywhere */
	size_t attachment_failures;           /* files that could not be attached */
	size_t silent_children;               /* forked, without an event, so without a trace */
	size_t without_figures;               /* traces of memory that have no figures of the heap */
	const char *why_without;              /* the first of them, a static text */

	/* progress.c */
	bool shows_progress;
	uint64_t started_ns; /* CLOCK_MONOTONIC, when it was attached */
};

#endif
