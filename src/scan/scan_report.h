/* What a scan has found, for people and for programs. */
#ifndef FT_SCAN_SCAN_REPORT_H
#define FT_SCAN_SCAN_REPORT_H

#include "scan/block_groups.h"
#include "scan/capture/snapshot.h"
#include "scan/block_types.h"

#include <stdio.h>
#include <time.h>

/* One of the allocator's figures. */
struct scan_figure {
	const char *name;  /* as mallinfo2(3) calls it, or ours */
	const char *words; /* what it counts */
	uint64_t value;
	bool is_count; /* else bytes */
};

/* What is alive because of one root: a variable, a thread's stack, a mapping. */
struct scan_owner {
	char *name;
	struct scan_sum sum;
};

/* On the way to a block: the root, a block, or so many blocks that are left out. */
struct scan_step {
	char *root; /* NULL: it is none */
	size_t left_out;
	uint64_t address, size; /* of a block; of a root only where its word is, 0: in a register */
	const char *type;       /* NULL unknown; of the struct scan_types */
};

/* Why a block is alive: the way from a root to it. Of one that is indirectly lost the way from a block that is
 * definitely lost; of one that is that itself it alone. */
struct scan_why {
	uint64_t address;
	bool is_block;    /* else there is none, and no way */
	bool is_doubtful; /* possibly lost for memory alone that is not known */
	enum scan_class class;
	struct scan_step *steps;
	size_t step_count;
};

struct scan_report {
	pid_t pid;
	const char *program;
	const char *core; /* the path of a core file: nothing was stopped; NULL: of a process */
	const char
		*program_before; /* at the scan before, from which it has executed this one since; NULL: it has not */
	struct timespec time;    /* of a process: when it was looked at, by CLOCK_REALTIME */
	uint64_t scan, scans;    /* which of how many, from 1 on */
	bool is_compared;        /* with the scan before */
	uint64_t since_last_ns;  /* from the pause before to this one, 0: it is the first */
	const struct snapshot_figures *pause;
	uint64_t inconsistent; /* copies that were not used, for an allocator was in the midst of its work */
	struct scan_groups *groups;
	const struct scan_types *types;
	struct scan_owner *owners; /* the greatest first */
	size_t owner_count;
	const char *allocator; /* "glibc" */
	struct scan_figure *figures;
	size_t figure_count;
	struct scan_why *whys;
	size_t why_count;
	size_t top; /* groups and owners that are shown */
};

/* Paragraphs for people. */
void scan_report_text(FILE *out, struct scan_report *report);
/* One line of JSON. */
void scan_report_json(FILE *out, struct scan_report *report);

#endif
