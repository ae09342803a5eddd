/* What the parts of the report share. */
#ifndef FT_REPORT_REPORT_PARTS_H
#define FT_REPORT_REPORT_PARTS_H

#include "report/terminal_lines.h"
#include "report/report.h"
#include "report/source_lines.h"

/* The figure of a group that a section shows. */
enum report_figure {
	FIGURE_LEAKED, /* lost, if there was a scan; else alive and allocated in the trace */
	FIGURE_POSSIBLY,
	FIGURE_REACHABLE,
	FIGURE_ALIVE,
	FIGURE_PEAK,
	FIGURE_ALLOCATED,
	FIGURE_TEMPORARY,
};

/* A section of a view: stacks, by one figure. */
struct report_section {
	enum report_figure figure;
	const char *title;   /* after the kind of resource */
	const char *grown;   /* the title if the profile is compared to an older one */
	const char *nothing; /* the text if there is no group; NULL: no section then */
	uint32_t top;        /* groups that are shown without --top */
	bool has_births;     /* the figure is of live blocks: their ages and growth are shown */
	bool ranks_growth;   /* orders by the largest share, of all or of the growth; else by the figure */
};

struct report {
	const struct profile *profile;
	struct report_options options;
	const struct report_section *section; /* that is being written */
	struct lines lines;
	struct sources sources;
	struct buf name; /* has pretty names */
};

struct report_view {
	const char *name;
	/* For kinds of resources that a scan has looked at, and for others. NULL comes after the last section. */
	const struct report_section *const *scanned, *const *sections;
	const char *title; /* of a table */
	void (*table)(struct report *report, const struct profile_resource *resource);
	bool is_of_blocks; /* leaves out kinds that are mere calls */
	bool has_next;     /* ends with what to look at next, and suppressions */
};

/* Returns the first row of the table. */
const struct report_view *report_view_default(void);
extern const struct report_section report_section_leaks;

/* Returns the section's figure of a group, or its growth if the profile is compared. */
struct tally report_figure(const struct report *report, const struct profile_group *group);
/* Returns the figure as it is now. */
struct tally report_figure_now(const struct report *report, const struct profile_group *group);
/* Returns the figure in the older trace. */
struct tally report_figure_old(const struct report *report, const struct profile_group *group);
/* Writes a line about the groups that are left out for min_count, if there are any. */
void report_left_out(struct report *report, const struct profile_resource *resource);
/* Returns the figure of a whole resource. */
struct tally report_whole(const struct report *report, const struct profile_resource *resource);
/* Returns the sum of the figures of all groups. */
struct tally report_sum(const struct report *report, const struct profile_resource *resource);

/* Adds "1,234 bytes in 5 blocks", or "5 descriptors" if a size says nothing. */
void report_add_tally(struct report *report, const struct profile_resource *resource, const struct tally *tally);
/* Returns "block" or "blocks", in `room`. */
const char *report_noun(const struct profile_resource *resource, uint64_t count, struct buf *room);
/* Returns true if sizes of the resource say anything: those of blocks do, but descriptors have only a number. */
bool report_has_bytes(const struct profile_resource *resource);
/* Returns the bytes of a tally, or the number if sizes of the resource say nothing. */
uint64_t report_key(const struct profile_resource *resource, const struct tally *tally);
/* Writes nanoseconds as "1.234 s" to `text`, and returns it; a number of calls if the trace has no times. */
const char *report_span_text(const struct report *report, uint64_t since, char text[static 32]);
/* Adds `value` as percentage of `whole`: "42.3 %". */
void report_add_share(struct report *report, uint64_t value, uint64_t whole);
/* Begins a line of the head with a label, or with blanks for "". */
void report_add_label(struct report *report, const char *label);

/* Returns how many frames of a group say something. The outermost ones, which start programs and threads, do not. */
uint32_t report_frame_count(const struct profile_group *group);
/* Appends the function's pretty name, or else the offset in the object, or else the address. */
void report_name_frame(struct buf *name, const struct profile_frame *frame);
/* Adds "function at file:12", "function from lib.so" or what is known. The name may be shortened. */
void report_add_frame(struct report *report, const struct profile_frame *frame);

/* Writes what was traced, how it ended, and what was not seen. */
void report_head(struct report *report);
/* Writes the section's groups of a resource, worst first. */
void report_groups(struct report *report, const struct profile_resource *resource);
/* Writes the section's groups of a resource as a tree. */
void report_tree(struct report *report, const struct profile_resource *resource);
/* Writes how much the groups of a resource grew since the mark or the older trace. */
void report_growth(struct report *report, const struct profile_resource *resource);
/* Writes the commands that show more. */
void report_next(struct report *report);
/* Writes what the suppressions have left out. */
void report_suppressed(struct report *report);
/* Writes suppressions for the leaks that are left. */
void report_gen_suppressions(struct report *report);
/* Write the tables by size, by thread and by object. */
void report_sizes(struct report *report, const struct profile_resource *resource);
void report_threads(struct report *report, const struct profile_resource *resource);
void report_objects(struct report *report, const struct profile_resource *resource);

#endif
