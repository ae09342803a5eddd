/* Files for other tools. Each is a row of exports.c, in a file of its own; only that file knows the bytes. */
#ifndef FT_EXPORT_EXPORT_H
#define FT_EXPORT_EXPORT_H

#include "analysis/trace_writer.h"
#include "base/buf.h"
#include "profile/profile.h"
#include "symbols/names/names.h"

#include <stdio.h>

/* Which figure of a group is wanted where a file holds one. */
enum export_weight { WEIGHT_LIVE, WEIGHT_ALLOCATED, WEIGHT_PEAK, WEIGHT_COUNT, WEIGHT_LOST };

struct export_options {
	enum export_weight weight;
	struct names *names;             /* for stages; NULL none. The caller's */
	const struct trace_clock *clock; /* for stages, as in struct account */
};

struct export
{
	const char *name;   /* of -f */
	const char *suffix; /* of its files: ".collapsed" */
	bool is_binary;     /* not to be written to a terminal */
	const char *needs;  /* packages without which this build has neither of the functions below; NULL none */
	bool is_weighted;   /* --weight chooses its figure */
	bool compares;      /* of a profile that is compared to an older one it has what grew */
	/* Writes a whole profile. What `out` could not take is seen by ferror(); 0, or a negative errno after a
	 * message. NULL where the file has the history of one process: */
	int (*write)(const struct profile *profile, const struct export_options *options, FILE *out);
	/* a last stage that writes as the records come, and stays the caller's; `out` too. */
	struct stage *(*stage_new)(const struct export_options *options, FILE *out);
};

/* A last stage for an export that has one: opens the target when the process is known. */
struct stage *export_stage_new(const struct export *export, const struct export_options *options,
			       const struct output_target *target);

/* The export of that name; NULL none. */
const struct export *export_find(const char *name);
/* The names of all, with commas; valid until the next call. */
const char *export_names(void);
/* Of those that compare; likewise. */
const char *export_names_that_compare(void);
/* live, allocated, peak, count or lost. False if it is another word. */
bool export_weight_parse(const char *text, enum export_weight *weight);

/* What the group has of these, allocated, alive, temporary and at the peak; of a profile that is compared, what it has
 * more than before. */
struct figures export_figures(const struct profile_group *group);
/* A group's figure: bytes, or for WEIGHT_COUNT the blocks that were allocated; of a profile that is compared, what it
 * has more than before. */
uint64_t export_weight_of(const struct profile_group *group, enum export_weight weight);
/* What of a group only lost blocks or nothing leads to. */
struct tally export_lost_of(const struct profile_group *group);
/* The function that a frame is shown as where a file wants a name: that of the function, or "[lib.so+0x123]", or
 * "[0x123]". `room` has the text where it is made; returns it, or the frame's own string. */
const char *export_frame_name(const struct profile_frame *frame, struct buf *room);

/* Appends the text with blanks in the place of control characters: a line stays one, whatever a name has in it. */
void export_add_text(struct buf *out, const char *text);
/* Appends a frame as valgrind's tools write it: "0x10F: alloc (a.c:5)", "0x10F: alloc (in /lib/liba.so)". */
void export_add_frame(struct buf *out, const struct profile_frame *frame);

/* The blocks of the heap, for files that have a place for nothing else; NULL: the traces have none. */
const struct profile_resource *export_memory(const struct profile *profile);

extern const struct export export_callgrind;
extern const struct export export_chrome;
extern const struct export export_collapsed;
extern const struct export export_dhat;
extern const struct export export_gperftools;
extern const struct export export_heaptrack;
extern const struct export export_json;
extern const struct export export_massif;
extern const struct export export_pprof;
extern const struct export export_speedscope;
extern const struct export export_xml;

#endif
