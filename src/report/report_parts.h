/* Declarations that the files of the report share. */
#ifndef FT_REPORT_REPORT_PARTS_H
#define FT_REPORT_REPORT_PARTS_H

#include "profile/compared.h"
#include "report/terminal_lines.h"
#include "report/report.h"
#include "report/source_lines.h"

/* The figures of a group. A section shows one of them. */
enum report_figure {
	FIGURE_LEAKED, /* lost blocks; without a scan, live blocks that were allocated in the trace */
	FIGURE_POSSIBLY,
	FIGURE_REACHABLE,
	FIGURE_ALIVE,
	FIGURE_PEAK,
	FIGURE_ALLOCATED,
	FIGURE_TEMPORARY,
};

/* A section of a view: stacks with one figure for each. */
struct report_section {
	enum report_figure figure;
	const char *title;   /* title, which follows the kind of resource */
	const char *grown;   /* title of the same section in a comparison (--diff) */
	const char *nothing; /* text if there is no group; NULL: the section is left out then */
	uint32_t top;        /* number of groups that are shown without --top */
	bool has_births;     /* the figure counts live blocks, so their ages and growth are shown */
	/* true: the groups are ordered by the greater of two shares. One is the group's share in the sum of all groups'
	 * figures. The other, not used in a comparison, is its share in their growth in the last tenth of the trace.
	 * false: the groups are ordered by the figure alone */
	bool ranks_growth;
};

struct report {
	const struct profile *profile;
	struct report_options options;
	const struct report_section *section; /* the section that is being written */
	struct lines lines;
	struct sources sources;
	struct buf name; /* buffer for pretty names */
};

struct report_view {
	const char *name;
	/* `scanned`: the sections for kinds of resources that have the result of a scan; `sections`: those for other
	 * kinds. A NULL follows the last section. */
	const struct report_section *const *scanned, *const *sections;
	const char *title; /* title of the table */
	void (*table)(struct report *report, const struct profile_resource *resource);
	bool is_of_blocks; /* the view leaves out kinds that only have calls (RESOURCE_CALL) */
	bool shows_all;    /* the table has all of its rows, whatever --top says */
	bool has_next;     /* the view ends with the suppressions, and with commands to try next */
};

/* Returns the view that is used without --report=VIEW: the first one in the table of views. */
const struct report_view *report_view_default(void);
extern const struct report_section report_section_leaks;

/* Returns the section's figure of a group; in a comparison, its growth. Returns 0 for a group that --min-count or a
 * suppression leaves out. */
struct tally report_figure(const struct report *report, const struct profile_group *group);
/* Returns the section's figure of a group at the end of the trace. */
struct tally report_figure_now(const struct report *report, const struct profile_group *group);
/* Returns the section's figure of a group in the older trace, or at the time of --diff=@T. */
struct tally report_figure_old(const struct report *report, const struct profile_group *group);
/* Returns the section's figure of a group at the beginning of the last tenth of the trace. */
struct tally report_figure_earlier(const struct report *report, const struct profile_group *group);
/* Writes lines about the groups that min_count and suppressions leave out of the section. Returns true if a line was
 * written. has_any: the section shows other groups. */
bool report_left_out(struct report *report, const struct profile_resource *resource, bool has_any);
/* Returns the section's figure of a whole kind of resource, from the kind's own sums; in a comparison, returns what
 * report_sum() returns. */
struct tally report_whole(const struct report *report, const struct profile_resource *resource);
/* Returns the sum of the section's figures of the resource's groups. */
struct tally report_sum(const struct report *report, const struct profile_resource *resource);

/* Adds "1,234 bytes in 5 blocks"; or "5 descriptors" for a resource whose sizes mean nothing. */
void report_add_tally(struct report *report, const struct profile_resource *resource, const struct tally *tally);
/* Adds "+1,234 bytes, +5 blocks"; or "+5 descriptors" for a resource whose sizes mean nothing. growth: the growth of a
 * figure; if there are N calls fewer than before, its `calls` is 2^64 - N. */
void report_add_growth(struct report *report, const struct profile_resource *resource, const struct tally *growth);
/* Returns the noun for `count` resources of this kind, for example "block" or "blocks"; the text is in the buffer
 * `room`. */
const char *report_noun(const struct profile_resource *resource, uint64_t count, struct buf *room);
/* Returns true if sizes of the resource mean something: blocks have sizes, but descriptors can only be counted. */
bool report_has_bytes(const struct profile_resource *resource);
/* Returns the bytes of a tally; returns the number of calls if sizes of the resource mean nothing. */
uint64_t report_key(const struct profile_resource *resource, const struct tally *tally);
/* Returns part / whole; 0 if `whole` is 0. */
double report_share_of(uint64_t part, uint64_t whole);
/* Writes a time, for example "1.234 s", to `text`, and returns `text`. since: nanoseconds, or a number of calls if the
 * trace has no times. */
const char *report_span_text(const struct report *report, uint64_t since, char text[static 32]);
/* Adds `value` as a percentage of `whole`: "42.3 %". */
void report_add_share(struct report *report, uint64_t value, uint64_t whole);
/* Begins a line of the head with a label, or with blanks if the label is "". */
void report_add_label(struct report *report, const char *label);

/* Returns how many frames of a group are shown. The outermost frames, which start the program or a thread, are left
 * out. */
uint32_t report_frame_count(const struct profile_group *group);
/* Adds "function at file:12", "function from lib.so", or as much as is known. The name may be shortened. */
void report_add_frame(struct report *report, const struct profile_frame *frame);

/* Writes the head of the report: the traced processes, how they ended, and what is missing in the trace. */
void report_head(struct report *report);
/* Writes the section's groups of a resource, the greatest first; in a comparison, those that have grown. */
void report_groups(struct report *report, const struct profile_resource *resource);
/* Writes the groups of the resource in report->section as a tree. */
void report_tree(struct report *report, const struct profile_resource *resource);
/* Writes the blocks from before the trace, if a comparison leaves them out because the older trace has no such
 * blocks. */
void report_uncompared(struct report *report, const struct profile_resource *resource);
/* Adds "1,234 bytes". */
void report_add_bytes(struct report *report, uint64_t bytes);
/* Writes the interval of confidence and the growth of a group, if its figures are estimates. */
void report_group_estimate(struct report *report, const struct profile_group *group);
/* Writes the totals of a resource whose figures are those of intervals (profile_has_intervals()). */
void report_estimated_totals(struct report *report, const struct profile_resource *resource);
/* Writes commands that show more details. */
void report_next(struct report *report);
/* Writes the suppressions that have matched, and the number of bytes and blocks that each has suppressed. */
void report_suppressed(struct report *report);
/* Writes suppressions for the leaks that are not suppressed yet. */
void report_gen_suppressions(struct report *report);
/* These write the tables by size, by thread and by object. */
void report_sizes(struct report *report, const struct profile_resource *resource);
void report_threads(struct report *report, const struct profile_resource *resource);
void report_objects(struct report *report, const struct profile_resource *resource);

#endif
