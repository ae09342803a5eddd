/* Makes a label for each row: the first frames of the row's stack, up to a frame that distinguishes the row from the
 * other rows. */
#ifndef FT_LIVE_ROW_LABELS_H
#define FT_LIVE_ROW_LABELS_H

#include "live/view_rows.h"

#include "base/buf.h"

struct label_frame {
	char *name;  /* function name, or address */
	char *place; /* " at FILE:LINE", " from OBJECT", or "" */
	bool shows_place;
	bool distinguishes; /* the frame differs from that of another row */
};

struct label {
	const struct watched *of;
	const char *function; /* the function that allocated, for example malloc; NULL: unknown */
	/* the innermost frame first; the innermost frames are left out if they are in the C library, the dynamic
	 * linker, or the standard library of C++ or Rust, unless all frames are */
	struct label_frame *frames;
	size_t count, shown;
	bool shows_function; /* `function` is shown, because no frame distinguishes the row */
};

/* A row is distinguished from this number of rows before it and after it, because comparing all pairs of rows would
 * take longer than the time between two updates. */
#define LABELS_NEAR 256
/* Returns labels for the first rows of a view, at most `most`; *count is their number. first: the first row whose label
 * is needed; labels of earlier rows may be empty. Takes the lock. The caller frees the labels with labels_free(). */
struct label *labels_of(struct view *view, size_t first, size_t most, size_t *count);
void labels_free(struct label *labels, size_t count);
/* Appends the text of a label, if possible not longer than `width` bytes. Frames that distinguish the row are kept;
 * other frames, and the ends of long names, are replaced by "..". */
void label_text(const struct label *label, size_t width, struct buf *text);

#endif
