/* Counts the frames without a name, by object and reason. */
#ifndef FT_SYMBOLS_NAMES_NAMES_BLANK_H
#define FT_SYMBOLS_NAMES_NAMES_BLANK_H

#include "base/buf.h"
#include "base/hash.h"

enum blank_reason {
	BLANK_NO_OBJECT, /* no object is known at the address */
	BLANK_NO_FILE,   /* the object's file is not here, or is another one */
	BLANK_NO_SYMBOL, /* the file has no name for it */
	BLANK_REASONS,
};

/* All zeros at first. Memory is proportional to the objects. */
struct blanks {
	struct hash by_path; /* hash of a path and a reason -> struct blank */
	uint64_t frames;     /* looked up */
	uint64_t blank;      /* of these, without a name */
};

/* Counts a frame without a name. path: of its object; NULL without one. */
void blanks_add(struct blanks *blanks, const char *path, enum blank_reason reason);
/* If most frames have no name, appends a sentence to `out` (how many, where most of them are, and what would help) and
 * returns true. has_servers: debuginfod was asked. */
bool blanks_explain(const struct blanks *blanks, bool has_servers, struct buf *out);
void blanks_free(struct blanks *blanks);

#endif
