/* The last stage: names, an encoding, a file. */
#ifndef FT_ANALYSIS_TRACE_WRITER_H
#define FT_ANALYSIS_TRACE_WRITER_H

#include "analysis/object_map.h"
#include "analysis/stage.h"
#include "symbols/names/names.h"
#include "trace/compression.h"
#include "trace/writer.h"

/* Of several inputs whose outputs stand one behind the other in one file: each has a line "# trace: NAME" above it. */
struct output_sequence {
	const char *input_name; /* of the one that is read now */
	bool has_begun;         /* one of them is there */
};

/* Where to write. */
struct output_target {
	const char *path;                 /* NULL or "-": stdout; a folder: PID-N and the suffix in it, never
			     overwriting */
	int input;                        /* not to be overwritten; -1 none */
	const char *input_path;           /* NULL: unknown */
	struct output_sequence *sequence; /* NULL: one input */
	const char *option;               /* that names it, for messages; NULL -o */
};

/* Opens it. The fd, or a negative errno after a message; *name (the caller frees it) is for
 * messages. */
int output_target_open(const struct output_target *target, uint32_t pid, const char *suffix, char **name);

/* What names need to know of a trace, as it passes; `names` may be NULL. `objects` are those that they know: one that
 * is declared again keeps its build-id. */
void output_feed_names(struct names *names, struct object_map *objects, const struct record *record);

struct output_options {
	struct output_target target;
	const struct encoding *encoding;
	struct writer_options writer; /* without the namer and the packer */
	enum packing packing;
	/* If set, asked for the dialect when the first record comes. */
	bool (*is_compat)(void *context);
	void *is_compat_context;
	struct names *names; /* -r; gets the objects as they pass. NULL none; the caller's */
};

/* Opens its target when the first record comes: a file's name may have the process's number in it. An error has been
 * reported in a message. */
struct stage *output_new(const struct output_options *options);

#endif
