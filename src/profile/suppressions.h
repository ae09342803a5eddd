/* Leaks that nobody wants to hear of: what the C and C++ libraries keep on purpose, and what users name in files in the
 * syntax of valgrind or of LeakSanitizer. */
#ifndef FT_PROFILE_SUPPRESSIONS_H
#define FT_PROFILE_SUPPRESSIONS_H

#include "analysis/leaks/leak_kinds.h"
#include "profile/profile.h"

enum suppression_pattern_kind {
	/* of one frame, a glob for the whole name; the innermost frame is the function that allocates */
	PATTERN_FUNCTION,
	PATTERN_OBJECT,   /* a glob for the object's whole path */
	PATTERN_SOURCE,   /* for the file, or file:line */
	PATTERN_FRAMES,   /* "...": any number of frames, none too */
	PATTERN_ANYWHERE, /* LeakSanitizer's: a part of any frame's function, object or file */
};

struct suppression {
	char *name;
	const char *file; /* where it stands, for messages; interned; NULL: functrace's own */
	unsigned line;
	unsigned kinds; /* of leaks that it is for: analysis/leaks/leak_kinds.h */
	struct suppression_pattern {
		enum suppression_pattern_kind kind;
		char *text; /* NULL: of no frames */
	} * patterns;       /* innermost frame first */
	size_t pattern_count, pattern_capacity;
	struct tally used; /* what it has suppressed */
};

struct suppressions {
	struct suppression *items;
	size_t count, capacity;
	struct intern_pool files;
};

/* Adds those of a file. False after a message that says which line is wrong. Entries of valgrind's for other tools and
 * other errors than leaks are left out. */
bool suppressions_read(struct suppressions *suppressions, const char *path);
/* Adds functrace's own. */
void suppressions_add_own(struct suppressions *suppressions);
/* The entry that has an allocation by that function with these frames, innermost first, whose kind is in the set of
 * kinds: the first that matches; NULL none. */
struct suppression *suppressions_find(struct suppressions *suppressions, unsigned kinds, const char *function,
				      const struct profile_frame *const *frames, size_t frame_count);
#define SUPPRESSION_USED_MAX 96
/* "56 bytes in 2 blocks" into `text`, which it returns. */
const char *suppression_used_text(const struct tally *used, char text[static SUPPRESSION_USED_MAX]);
/* After profile_end(): what matches is not picked any more; the first entry that matches has it. What no scan has
 * looked at counts as definitely lost. */
void suppressions_apply(struct suppressions *suppressions, struct profile *profile);
/* Frees what they have; the struct is the caller's. */
void suppressions_free(struct suppressions *suppressions);

#endif
