/* Rows in words: of each stack the first frames that tell it apart from the other rows'. */
#ifndef FT_LIVE_LABELS_H
#define FT_LIVE_LABELS_H

#include "live/view.h"

#include "base/buf.h"

struct label_frame {
	char *name;  /* of the function, or its address */
	char *place; /* " at FILE:LINE", " from OBJECT", or "" */
	bool shows_place;
	bool tells_apart; /* it differs from another row's */
};

struct label {
	const struct watched *of;
	const char *function; /* that was called there; NULL unknown */
	struct label_frame
		*frames; /* innermost first, from the first on that is not of the language's runtime or library */
	size_t count, shown;
	bool shows_function; /* only that tells it apart */
};

/* Labels of the first rows of a view, at most `most`: *count. The lock is taken. The caller frees them by
 * labels_free(). */
struct label *labels_of(struct view *view, size_t most, size_t *count);
void labels_free(struct label *labels, size_t count);
/* Appends the text of a label, in at most `width` columns where that can be: the frames that tell it apart stay, and
 * ".." is in the place of others, and of the ends of long names. */
void label_text(const struct label *label, size_t width, struct buf *text);

#endif
