/* Writes files for other tools. The table in exports.c lists the exports. Each export has a source file, and no other
 * file contains its format. */
#ifndef FT_EXPORT_EXPORT_H
#define FT_EXPORT_EXPORT_H

#include "analysis/trace_writer.h"
#include "base/buf.h"
#include "base/terminal_escape.h"
#include "profile/compared.h"
#include "symbols/names/names.h"

#include <stdio.h>

/* Which figure of a group is written, for files that have one figure of each group. */
enum export_weight { WEIGHT_LIVE, WEIGHT_ALLOCATED, WEIGHT_PEAK, WEIGHT_COUNT, WEIGHT_LOST };

struct export_options {
	enum export_weight weight;
	struct names *names;             /* for stage_new: finds names, owned by the caller; NULL: none */
	const struct trace_clock *clock; /* for stage_new; see struct account */
};

struct export
{
	const char *name;   /* the name of the export, as in -f NAME */
	const char *suffix; /* suffix of the files' names: ".collapsed" */
	bool is_binary;     /* the file is binary, so it is not written to a terminal */
	const char *needs;  /* packages that the build lacked, so that write and stage_new are NULL; NULL: none */
	bool is_weighted;   /* --weight chooses the figure */
	bool has_leaks;     /* the file distinguishes leaks from other blocks, so that suppressions apply to it */
	bool compares;      /* if the profile is compared to an older one, the file shows the growth */
	/* Writes a whole profile. Returns 0, or a negative errno after a message; the caller finds errors of `out` by
	 * ferror(). NULL if the file contains the calls of one process in order; then stage_new is set. */
	int (*write)(const struct profile *profile, const struct export_options *options, FILE *out);
	/* Makes a last stage, which writes the file while it gets the records. The caller owns the stage and `out`. */
	struct stage *(*stage_new)(const struct export_options *options, FILE *out);
};

/* Makes the last stage of an export that has stage_new. The stage opens the output when the process is known, because
 * the file's name may contain the pid. */
struct stage *export_stage_new(const struct export *export, const struct export_options *options,
			       const struct output_target *target);

/* Returns the export with this name, or NULL. */
const struct export *export_find(const char *name);
/* Returns the names of all exports, separated by commas; valid until the next call. */
const char *export_names(void);
/* Like export_names(), but only for exports whose `compares` is set. */
const char *export_names_that_compare(void);
/* Like export_names(), but only for exports whose `has_leaks` is set. */
const char *export_names_with_leaks(void);
/* Parses "live", "allocated", "peak", "count" or "lost". Returns false for any other word. */
bool export_weight_parse(const char *text, enum export_weight *weight);

/* Returns the blocks and bytes of a group that `weight` chooses; WEIGHT_COUNT chooses the allocated ones. If the
 * profile is compared to an older one, returns their growth, except for WEIGHT_LOST. */
struct tally export_tally_of(const struct profile_group *group, enum export_weight weight);
/* Returns the bytes of export_tally_of(); for WEIGHT_COUNT the number of blocks. */
uint64_t export_weight_of(const struct profile_group *group, enum export_weight weight);
/* Returns the function's name for a frame; if it has none, "[lib.so+0x123]" or "[0x123]". The text is a string of the
 * frame, or is stored in `room`. */
const char *export_frame_name(const struct profile_frame *frame, struct buf *room);
/* Returns an address in the call instruction before a return address; 0 if `address` is 0, which means unknown. */
uint64_t export_call_address(uint64_t address);

/* Prints `before`, then the text as a JSON string, or null if it is NULL. */
void export_print_json(FILE *out, const char *before, const char *text);
/* Appends a frame as valgrind's tools write it: "0x10F: alloc (a.c:5)", "0x10F: alloc (in /lib/liba.so)". */
void export_add_frame(struct buf *out, const struct profile_frame *frame);

/* Returns the process's command line; its name if the command line is unknown. */
const char *export_command(const struct account *account);
/* Returns the kind of resource whose ids are addresses of heap blocks, for formats that contain only memory; NULL if
 * there is none. */
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
extern const struct export export_rows;
extern const struct export export_speedscope;
extern const struct export export_xml;

#endif
