/* What the parts of the report share. */
#ifndef FT_REPORT_REPORT_PARTS_H
#define FT_REPORT_REPORT_PARTS_H

#include "report/lines.h"
#include "report/report.h"
#include "report/source.h"

struct report {
	const struct profile *profile;
	struct report_options options;
	struct lines lines;
	struct sources sources;
	struct buf name; /* where pretty names are made */
};

/* The figure by which the view orders groups; none of a group that is too small to be shown. */
struct tally report_figure(const struct report *report, const struct profile_group *group);
/* Says how much groups have that are too small, if there are any. */
void report_left_out(struct report *report, const struct profile_resource *resource);
/* The figure of a resource as a whole. */
struct tally report_whole(const struct report *report, const struct profile_resource *resource);

/* "1,234 bytes in 5 blocks", or "5 descriptors" where a size says nothing. */
void report_add_tally(struct report *report, const struct profile_resource *resource, const struct tally *tally);
/* "block", "blocks". */
const char *report_noun(const struct profile_resource *resource, uint64_t count, struct buf *room);
/* Whether sizes of that resource say anything: bytes do, a number of descriptors is their count. */
bool report_has_bytes(const struct profile_resource *resource);
/* Nanoseconds as "1.234 s", or calls where the trace has no times. `text` has room for the result. */
const char *report_span_text(const struct report *report, uint64_t since, char text[static 32]);
/* value as percentage of whole: "42.3 %". */
void report_add_share(struct report *report, uint64_t value, uint64_t whole);

/* The frames of a group that say something: without those that start programs and threads at the outer end. */
uint32_t report_frame_count(const struct profile_group *group);
/* Appends the function's name as people write it, or the offset in its object, or the address. */
void report_name_frame(struct buf *name, const struct profile_frame *frame);
/* Adds "function at file:12", "function from lib.so" or what is known, shortened to the line. */
void report_add_frame(struct report *report, const struct profile_frame *frame);

/* Writes the groups of a resource, worst first. */
void report_groups(struct report *report, const struct profile_resource *resource);
/* The same as a tree. */
void report_tree(struct report *report, const struct profile_resource *resource);
/* What grew since the mark or the old trace. */
void report_growth(struct report *report, const struct profile_resource *resource);
/* What the suppressions have left out, and entries for what they have not. */
void report_suppressed(struct report *report);
void report_gen_suppressions(struct report *report);
/* Tables by size, thread and object. */
void report_sizes(struct report *report, const struct profile_resource *resource);
void report_threads(struct report *report, const struct profile_resource *resource);
void report_objects(struct report *report, const struct profile_resource *resource);

#endif
