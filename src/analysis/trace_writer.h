/* The last stage: writes the trace to a file in an encoding, with names. */
#ifndef FT_ANALYSIS_TRACE_WRITER_H
#define FT_ANALYSIS_TRACE_WRITER_H

#include "analysis/object_map.h"
#include "analysis/stage.h"
#include "symbols/names/names.h"
#include "trace/compression_kinds.h"
#include "trace/writer.h"

/* Several inputs whose outputs follow each other in one file, each after a line "# trace: NAME". */
struct output_sequence {
	const char *input_name; /* of the current input */
	bool has_begun;         /* one of the outputs is in the file */
};

/* Where to write. */
struct output_target {
	const char *path;                 /* NULL or "-": stdout; a folder: a new file PID-N and the suffix in it */
	int input;                        /* its fd, not to be overwritten; -1: none */
	const char *input_path;           /* NULL: unknown */
	struct output_sequence *sequence; /* NULL: one input */
	const char *option;               /* the one that names it, for messages; NULL: -o */
};

/* Opens the target. Returns the fd, or a negative errno after a message. *name is for messages; the caller frees it. */
int output_target_open(const struct output_target *target, uint32_t pid, const char *suffix, char **name);

/* Gives `names`, which may be NULL, what it needs from a record of the trace. `objects` are those that it has: an
 * object that is declared again keeps its build-id. */
void output_feed_names(struct names *names, struct object_map *objects, const struct record *record);

struct output_options {
	struct output_target target;
	const struct encoding *encoding;
	struct writer_options writer; /* without the namer and the packer */
	enum packing packing;
	/* If set, called when the first record comes: true if sp-rtrace's dialect is wanted. */
	bool (*is_compat)(void *context);
	void *is_compat_context;
	struct names *names; /* -r; gets the objects as they pass; NULL: none. The caller's */
};

/* Makes the stage. It opens its target when the first record comes, because the file's name may contain the process's
 * number. It reports errors in messages. */
struct stage *output_new(const struct output_options *options);

#endif
