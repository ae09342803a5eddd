/* What a scan has found, and writing it for people and for programs. */
#ifndef FT_SCAN_SCAN_REPORT_H
#define FT_SCAN_SCAN_REPORT_H

#include "scan/block_groups.h"
#include "scan/capture/snapshot.h"
#include "scan/block_types.h"

#include <stdio.h>
#include <time.h>

/* One of the allocator's figures. */
struct scan_figure {
	const char *name;  /* as in mallinfo2(3), or functrace's own */
	const char *words; /* what it counts */
	uint64_t value;
	bool is_count; /* false: bytes */
};

/* The blocks that are alive because of one root: a variable, a thread's stack, a mapping. */
struct scan_owner {
	char *name;
	struct scan_sum sum;
};

/* One step on the way to a block: the root, a block, or a number of blocks that are left out. */
struct scan_step {
	char *root; /* NULL: the step is no root */
	size_t left_out;
	uint64_t address, size; /* of a block; of a root the address of its word only, 0: in a register */
	const char *type;       /* from the struct scan_types; NULL: unknown */
};

/* Why a block is alive: the way from a root to it. For an indirectly lost block it is the way from a definitely lost
 * one; for a definitely lost block it is this block alone. */
struct scan_why {
	uint64_t address;
	bool is_block;    /* false: no block is at the address, and there is no way */
	bool is_doubtful; /* possibly lost: only memory that was not copied may lead to it */
	enum scan_class class;
	struct scan_step *steps;
	size_t step_count;
};

struct scan_report {
	pid_t pid;
	const char *program;
	const char *core;           /* the path of a core file, for which nothing was stopped; NULL: a process */
	const char *program_before; /* of the previous scan, if the process has executed another one; else NULL */
	struct timespec time;       /* of a process: when it was looked at, by CLOCK_REALTIME */
	uint64_t scan, scans;       /* the number of this one, from 1 on, and of all */
	bool is_compared;           /* with the previous scan */
	uint64_t since_last_ns;     /* from the previous pause to this one; 0: it is the first */
	const struct snapshot_figures *pause;
	uint64_t inconsistent; /* copies that were not used because a thread was inside the allocator */
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

/* Writes paragraphs for people. */
void scan_report_text(FILE *out, struct scan_report *report);
/* Writes one line of JSON. */
void scan_report_json(FILE *out, struct scan_report *report);

#endif
