/* Describes each row by the first frames of its stack that distinguish it from the other rows. */
#ifndef FT_LIVE_LABELS_H
#define FT_LIVE_LABELS_H

#include "live/view_rows.h"

#include "base/buf.h"

struct label_frame {
	char *name;  /* the function's, or an address */
	char *place; /* " at FILE:LINE", " from OBJECT", or "" */
	bool shows_place;
	bool tells_apart; /* it differs from another row's frame */
};

struct label {
	const struct watched *of;
	const char *function;       /* the function that was called to allocate; NULL if unknown */
	struct label_frame *frames; /* innermost first; begins after frames of the language's runtime and library */
	size_t count, shown;
	bool shows_function; /* nothing else distinguishes the row */
};

/* Returns labels of the first rows of a view, `most` at most; *count is their number. Takes the lock. The caller frees
 * them by labels_free(). */
struct label *labels_of(struct view *view, size_t most, size_t *count);
void labels_free(struct label *labels, size_t count);
/* Appends the text of a label, in `width` columns at most if possible. The frames that distinguish the row stay; ".."
 * replaces other frames and the ends of long names. */
void label_text(const struct label *label, size_t width, struct buf *text);

#endif
