/* The results of a scan, and writing them as text or JSON. */
#ifndef FT_SCAN_SCAN_REPORT_H
#define FT_SCAN_SCAN_REPORT_H

#include "scan/block_groups.h"
#include "scan/capture/snapshot.h"
#include "scan/block_types.h"

#include <stdio.h>
#include <time.h>

/* One of the allocator's figures. */
struct scan_figure {
	const char *name;  /* name in mallinfo2(3), or functrace's name */
	const char *words; /* description of the counted things */
	uint64_t value;
	bool is_count; /* true if the figure is a count, false if it is in bytes */
};

/* The sums of the blocks that one root keeps alive. A root is a variable, a thread's stack or registers, or a
 * mapping. */
struct scan_owner {
	char *name;
	struct scan_sum sum;
};

/* One step from a root to a block: the root, a block, or a number of omitted blocks. */
struct scan_step {
	char *root; /* name of the root; NULL if the step is no root */
	size_t left_out;
	uint64_t address, size; /* address and size of a block; for a root only the word's address, 0 for a register */
	const char *type;       /* name of the type, owned by the struct scan_types; NULL if unknown */
};

/* Why a block is alive: the steps from a root to it. For an indirectly lost block, the steps from a definitely lost
 * block; for a definitely lost block, only this block. */
struct scan_retained_by {
	uint64_t address;
	bool is_block;    /* false if no block is at the address; then there are no steps */
	bool is_doubtful; /* possibly lost, because only memory that was not copied may point to the block */
	enum scan_class class;
	struct scan_step *steps;
	size_t step_count;
};

struct scan_report {
	pid_t pid;
	const char *program;
	const char *core;           /* path of the core file; NULL if a process was scanned */
	const char *program_before; /* program of the previous scan if it was another one, else NULL */
	struct timespec time;       /* for a process, the time of the scan, by CLOCK_REALTIME */
	uint64_t scan, scans;       /* the number of this scan, from 1 on, and the number of all scans */
	bool is_compared;           /* true if the scan was compared with the previous one */
	uint64_t since_last_ns;     /* time from the previous pause to this one; 0 if this is the first */
	const struct snapshot_figures *pause;
	uint64_t inconsistent; /* copies not used because a thread was inside the allocator or could not be stopped */
	struct scan_groups *groups;
	const struct scan_types *types;
	struct scan_owner *owners; /* in descending order of bytes */
	size_t owner_count;
	const char *allocator; /* name of the allocator, such as "glibc" */
	struct scan_figure *figures;
	size_t figure_count;
	struct scan_retained_by *whys;
	size_t why_count;
	size_t top; /* maximum number of groups and owners that are shown */
};

/* Writes the report as text. */
void scan_report_text(FILE *out, struct scan_report *report);
/* Writes the report as one line of JSON. */
void scan_report_json(FILE *out, struct scan_report *report);

#endif
