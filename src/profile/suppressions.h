/* Suppressions, which leave known leaks out of reports: blocks that the C and C++ libraries keep on purpose, and leaks
 * that users list in files with the syntax of valgrind or of LeakSanitizer. */
#ifndef FT_PROFILE_SUPPRESSIONS_H
#define FT_PROFILE_SUPPRESSIONS_H

#include "analysis/leaks/leak_kinds.h"
#include "profile/profile.h"

enum suppression_pattern_kind {
	/* a glob for the whole name of one frame's function; the innermost is the function that allocates */
	PATTERN_FUNCTION,
	PATTERN_OBJECT,   /* a glob for the object's whole path */
	PATTERN_SOURCE,   /* for the file, or file:line */
	PATTERN_FRAMES,   /* "...": any number of frames, or none */
	PATTERN_ANYWHERE, /* LeakSanitizer's: a part of any frame's function, object or file */
};

struct suppression {
	char *name;
	const char *file; /* its file, for messages; interned; NULL: functrace's own */
	unsigned line;
	unsigned kinds; /* the kinds of leaks that it is for: analysis/leaks/leak_kinds.h */
	struct suppression_pattern {
		enum suppression_pattern_kind kind;
		char *text; /* NULL: PATTERN_FRAMES */
	} * patterns;       /* innermost frame first */
	size_t pattern_count, pattern_capacity;
	struct tally used; /* what it has suppressed */
};

struct suppressions {
	struct suppression *items;
	size_t count, capacity;
	struct intern_pool files;
};

/* Adds the suppressions in a file. False after a message that says which line is wrong. Leaves out valgrind's entries
 * for other tools and for other errors than leaks. */
bool suppressions_read(struct suppressions *suppressions, const char *path);
/* Adds functrace's own suppressions. */
void suppressions_add_own(struct suppressions *suppressions);
/* Returns the first suppression for one of these kinds that matches an allocation by this function with these frames,
 * innermost first; NULL: none. */
struct suppression *suppressions_find(struct suppressions *suppressions, unsigned kinds, const char *function,
				      const struct profile_frame *const *frames, size_t frame_count);
#define SUPPRESSION_USED_MAX 96
/* Writes "56 bytes in 2 blocks" to `text`, and returns it. */
const char *suppression_used_text(const struct tally *used, char text[static SUPPRESSION_USED_MAX]);
/* Call it after profile_end(): takes what a suppression matches out of `picked`; the first that matches counts it.
 * Blocks that no scan has classified count as definitely lost. */
void suppressions_apply(struct suppressions *suppressions, struct profile *profile);
/* Frees what the suppressions own; the caller owns the struct. */
void suppressions_free(struct suppressions *suppressions);

#endif
