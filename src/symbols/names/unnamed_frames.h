/* Counts the frames without a name, for each object and reason. */
#ifndef FT_SYMBOLS_NAMES_UNNAMED_FRAMES_H
#define FT_SYMBOLS_NAMES_UNNAMED_FRAMES_H

#include "base/buf.h"
#include "base/hash.h"

enum unnamed_reason {
	UNNAMED_NO_OBJECT, /* no object is known at the address */
	UNNAMED_NO_FILE,   /* the object's file is missing, or is another file */
	UNNAMED_NO_SYMBOL, /* the file has no symbol or debug information at the address */
	UNNAMED_REASONS,
};

/* The counters; all zeros at first. Their memory is proportional to the number of objects. */
struct unnamed_frames {
	struct hash by_path; /* hash of an object's path and a reason -> struct unnamed_group */
	uint64_t frames;     /* number of frames that were looked up */
	uint64_t without;    /* number of these frames that have no name */
};

/* Counts a frame without a name. path: path of the frame's object; NULL if there is none. */
void unnamed_frames_add(struct unnamed_frames *unnamed, const char *path, enum unnamed_reason reason);
/* If most frames have no name, appends a sentence to `out` and returns true. The sentence says how many have none,
 * which object contains most of them, and how the user can get their names. has_servers: debuginfod was asked. */
bool unnamed_frames_explain(const struct unnamed_frames *unnamed, bool has_servers, struct buf *out);
void unnamed_frames_free(struct unnamed_frames *unnamed);

#endif
