/* What the parts of the report share. */
#ifndef FT_REPORT_REPORT_PARTS_H
#define FT_REPORT_REPORT_PARTS_H

#include "report/terminal_lines.h"
#include "report/report.h"
#include "report/source_lines.h"

/* What is shown of a group. */
enum report_figure {
	FIGURE_LEAKED, /* lost, where a scan was; else alive, and of the trace */
	FIGURE_POSSIBLY,
	FIGURE_REACHABLE,
	FIGURE_ALIVE,
	FIGURE_PEAK,
	FIGURE_ALLOCATED,
	FIGURE_TEMPORARY,
};

/* Stacks, by one figure. */
struct report_section {
	enum report_figure figure;
	const char *title;   /* behind the kind of resource */
	const char *grown;   /* the title where the profile is compared to an older one */
	const char *nothing; /* what is said where there is none; NULL: no section then */
	uint32_t top;        /* so many groups are shown unless --top says how many */
	bool has_births;     /* it is of what is alive: ages, and how it grew, are shown */
	bool ranks_growth;   /* what has the largest share, of all or of what grew, comes first; else by the figure */
};

struct report {
	const struct profile *profile;
	struct report_options options;
	const struct report_section *section; /* that is written now */
	struct lines lines;
	struct sources sources;
	struct buf name; /* where pretty names are made */
};

struct report_view {
	const char *name;
	/* Of kinds of resources that a scan has looked at, and of others; NULL behind the last. */
	const struct report_section *const *scanned, *const *sections;
	const char *title; /* of a table */
	void (*table)(struct report *report, const struct profile_resource *resource);
	bool is_of_blocks; /* kinds that are mere calls are left out */
	bool has_next;     /* it ends with what to look at next, and suppressions */
};

/* The table's first row. */
const struct report_view *report_view_default(void);
extern const struct report_section report_section_leaks;

/* The section's figure of a group; what it has more than the old one where the profile is compared. */
struct tally report_figure(const struct report *report, const struct profile_group *group);
/* The figure as it is now, and as it was. */
struct tally report_figure_now(const struct report *report, const struct profile_group *group);
struct tally report_figure_old(const struct report *report, const struct profile_group *group);
/* Says how much groups have that are too small, if there are any. */
void report_left_out(struct report *report, const struct profile_resource *resource);
/* The figure of a resource as a whole. */
struct tally report_whole(const struct report *report, const struct profile_resource *resource);
/* What the groups show together. */
struct tally report_sum(const struct report *report, const struct profile_resource *resource);

/* "1,234 bytes in 5 blocks", or "5 descriptors" where a size says nothing. */
void report_add_tally(struct report *report, const struct profile_resource *resource, const struct tally *tally);
/* "block", "blocks". */
const char *report_noun(const struct profile_resource *resource, uint64_t count, struct buf *room);
/* Whether sizes of that resource say anything: bytes do, a number of descriptors is their count. */
bool report_has_bytes(const struct profile_resource *resource);
/* What counts of a tally: bytes, or the number. */
uint64_t report_key(const struct profile_resource *resource, const struct tally *tally);
/* Nanoseconds as "1.234 s", or calls where the trace has no times. `text` has room for the result. */
const char *report_span_text(const struct report *report, uint64_t since, char text[static 32]);
/* value as percentage of whole: "42.3 %". */
void report_add_share(struct report *report, uint64_t value, uint64_t whole);
/* Begins a line of the head: the label, or blanks for "". */
void report_add_label(struct report *report, const char *label);

/* The frames of a group that say something: without those that start programs and threads at the outer end. */
uint32_t report_frame_count(const struct profile_group *group);
/* Appends the function's name as people write it, or the offset in its object, or the address. */
void report_name_frame(struct buf *name, const struct profile_frame *frame);
/* Adds "function at file:12", "function from lib.so" or what is known, shortened to the line. */
void report_add_frame(struct report *report, const struct profile_frame *frame);

/* What was traced, how it ended, and what of it was not seen. */
void report_head(struct report *report);
/* The section's groups of a resource, worst first; its tree; or what grew since the mark or the old trace. */
void report_groups(struct report *report, const struct profile_resource *resource);
void report_tree(struct report *report, const struct profile_resource *resource);
void report_growth(struct report *report, const struct profile_resource *resource);
/* The commands that show more. */
void report_next(struct report *report);
/* What the suppressions have left out, and entries for what they have not. */
void report_suppressed(struct report *report);
void report_gen_suppressions(struct report *report);
/* Tables by size, thread and object. */
void report_sizes(struct report *report, const struct profile_resource *resource);
void report_threads(struct report *report, const struct profile_resource *resource);
void report_objects(struct report *report, const struct profile_resource *resource);

#endif
