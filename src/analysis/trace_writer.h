/* The last stage: writes the trace to a file in any encoding, with the names of functions if wanted. */
#ifndef FT_ANALYSIS_TRACE_WRITER_H
#define FT_ANALYSIS_TRACE_WRITER_H

#include "analysis/object_map.h"
#include "analysis/stage.h"
#include "symbols/names/names.h"
#include "trace/compression_kinds.h"
#include "trace/writer.h"

/* Used if the outputs of several inputs are written to one file, each after a line "# trace: NAME". */
struct output_sequence {
	const char *input_name; /* name of the current input */
	bool has_begun;         /* the file contains at least one output already */
};

/* The place where an output is written. */
struct output_target {
	/* The output's path. NULL or "-": stdout. A folder: a new file PID-N with the suffix is created in it. */
	const char *path;
	int input;                        /* descriptor of the input, which must not be overwritten; -1: none */
	const char *input_path;           /* path of the input; NULL if unknown */
	struct output_sequence *sequence; /* NULL if there is only one input */
	const char *option;               /* the option with the path, for messages; NULL: -o */
};

/* Opens the target. Returns the descriptor, or a negative errno after a message. In both cases sets *name to a name for
 * messages, which the caller frees. */
int output_target_open(const struct output_target *target, uint32_t pid, const char *suffix, char **name);

/* Passes the data for finding names (process, objects, build-ids) from a record to `names`, which may be NULL. objects:
 * the objects that were passed already. An object that is declared again is not passed again, so it keeps its
 * build-id. */
void output_feed_names(struct names *names, struct object_map *objects, const struct record *record);

struct output_options {
	struct output_target target;
	const struct encoding *encoding;
	struct writer_options writer; /* options of the writer; namer and packer are set by the stage */
	enum packing packing;
	/* If not NULL, called at the first record. Returns true if sp-rtrace's dialect is wanted. */
	bool (*is_compat)(void *context);
	void *is_compat_context;
	/* -r: finds the names of functions; the stage passes the objects in the trace to `names`. Owned by the caller;
	 * NULL: the output gets no names */
	struct names *names;
};

/* Makes the stage. The stage opens the target at the first record, because the file's name may contain the pid. It
 * prints a message before it returns an error. */
struct stage *output_new(const struct output_options *options);

#endif
