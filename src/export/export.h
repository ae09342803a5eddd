/* Writes files for other tools. Each export is a row of exports.c in a file of its own; only that file knows the
 * bytes. */
#ifndef FT_EXPORT_EXPORT_H
#define FT_EXPORT_EXPORT_H

#include "analysis/trace_writer.h"
#include "base/buf.h"
#include "base/terminal_escape.h"
#include "profile/profile.h"
#include "symbols/names/names.h"

#include <stdio.h>

/* The figure of a group that is written, for files that have one figure. */
enum export_weight { WEIGHT_LIVE, WEIGHT_ALLOCATED, WEIGHT_PEAK, WEIGHT_COUNT, WEIGHT_LOST };

struct export_options {
	enum export_weight weight;
	struct names *names;             /* for stages; NULL: none. The caller's */
	const struct trace_clock *clock; /* for stages; see struct account */
};

struct export
{
	const char *name;   /* the word for -f */
	const char *suffix; /* of its files: ".collapsed" */
	bool is_binary;     /* not to be written to a terminal */
	const char *needs;  /* packages without which this build lacks both functions below; NULL: none */
	bool is_weighted;   /* --weight chooses the figure */
	bool compares;      /* it writes what grew, if the profile is compared to an older one */
	/* Writes a whole profile. Returns 0, or a negative errno after a message; the caller finds errors of `out` by
	 * ferror(). NULL if the file has the history of one process, which needs stage_new. */
	int (*write)(const struct profile *profile, const struct export_options *options, FILE *out);
	/* Makes a last stage that writes as the records come. The caller owns the stage and `out`. */
	struct stage *(*stage_new)(const struct export_options *options, FILE *out);
};

/* Makes the last stage of an export that has stage_new. It opens the target when the process is known. */
struct stage *export_stage_new(const struct export *export, const struct export_options *options,
			       const struct output_target *target);

/* Returns the export with this name, or NULL. */
const struct export *export_find(const char *name);
/* Returns the names of all exports, with commas; valid until the next call. */
const char *export_names(void);
/* The same of those that compare. */
const char *export_names_that_compare(void);
/* Reads live, allocated, peak, count or lost. Returns false for another word. */
bool export_weight_parse(const char *text, enum export_weight *weight);

/* Returns one figure of a group, blocks and bytes. WEIGHT_COUNT is what was allocated. If the profile is compared,
 * returns how much more that is than before. */
struct tally export_tally_of(const struct profile_group *group, enum export_weight weight);
/* Returns the bytes of that figure, or for WEIGHT_COUNT the blocks. */
uint64_t export_weight_of(const struct profile_group *group, enum export_weight weight);
/* Returns the name for a frame: that of the function, "[lib.so+0x123]" or "[0x123]". It is the frame's own string, or
 * is written to `room`. */
const char *export_frame_name(const struct profile_frame *frame, struct buf *room);
/* Returns the address of the call that returns to `address`; 0 if that is 0, which is unknown. */
uint64_t export_call_address(uint64_t address);

/* Prints `before`, and the text as a JSON string; NULL as null. */
void export_print_json(FILE *out, const char *before, const char *text);
/* Appends a frame as valgrind's tools write it: "0x10F: alloc (a.c:5)", "0x10F: alloc (in /lib/liba.so)". */
void export_add_frame(struct buf *out, const struct profile_frame *frame);

/* Returns the process's command, or its name if that is unknown. */
const char *export_command(const struct account *account);
/* Returns the resource with the heap's blocks, for files with a place for memory only; NULL if the traces have none. */
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
