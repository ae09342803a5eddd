/* Suppressions, which keep known leaks out of reports: blocks that the C and C++ libraries keep on purpose, and leaks
 * that users list in files, in the syntax of valgrind or LeakSanitizer. */
#ifndef FT_PROFILE_SUPPRESSIONS_H
#define FT_PROFILE_SUPPRESSIONS_H

#include "analysis/leaks/leak_kinds.h"
#include "profile/profile.h"

enum suppression_pattern_kind {
	/* A glob for the whole name of a frame's function. The innermost frame is the function that allocates. */
	PATTERN_FUNCTION,
	PATTERN_OBJECT,   /* a glob for the whole path of the frame's object */
	PATTERN_SOURCE,   /* a glob for the frame's source file, or for file:line */
	PATTERN_FRAMES,   /* "...": any number of frames, or none */
	PATTERN_ANYWHERE, /* a glob of LeakSanitizer for the function, object or file of any frame */
};

struct suppression {
	char *name;
	const char *file; /* path of the file with this suppression, for messages; interned; NULL: functrace's own */
	unsigned line;
	unsigned kinds; /* set of the kinds of leaks that it suppresses: analysis/leaks/leak_kinds.h */
	struct suppression_pattern {
		enum suppression_pattern_kind kind;
		char *text; /* NULL for PATTERN_FRAMES */
	} * patterns;       /* the innermost frame first */
	size_t pattern_count, pattern_capacity;
	struct tally used; /* blocks that it has suppressed */
};

struct suppressions {
	struct suppression *items;
	size_t count, capacity;
	struct intern_pool files;
};

/* Adds the suppressions in a file. Returns false after a message with the number of the wrong line. Skips valgrind's
 * entries for other tools, and for errors other than leaks. */
bool suppressions_read(struct suppressions *suppressions, const char *path);
/* Adds the suppressions that are built into functrace. */
void suppressions_add_own(struct suppressions *suppressions);
/* Returns the first suppression that matches one of these leak kinds, this allocating function and these frames (the
 * innermost first); returns NULL if there is none. */
struct suppression *suppressions_find(struct suppressions *suppressions, unsigned kinds, const char *function,
				      const struct profile_frame *const *frames, size_t frame_count);
#define SUPPRESSION_USED_MAX 96
/* Writes a text like "56 bytes in 2 blocks" to `text`, and returns it. */
const char *suppression_used_text(const struct tally *used, char text[static SUPPRESSION_USED_MAX]);
/* Removes from `picked` the blocks that a suppression matches, and counts them in the first suppression that matches.
 * Call it after profile_end(). Blocks that no scan has classified are taken as definitely lost. */
void suppressions_apply(struct suppressions *suppressions, struct profile *profile);
/* Frees the memory that the suppressions own; the caller owns the struct. */
void suppressions_free(struct suppressions *suppressions);

#endif
