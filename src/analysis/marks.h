/* A queue of records that keep their places between the calls that a stage holds back. It uses a bounded amount of
 * memory; records that have no room there wait in a temporary file. */
#ifndef FT_ANALYSIS_MARKS_H
#define FT_ANALYSIS_MARKS_H

#include "trace/event.h"
#include "base/buf.h"

struct mark {
	uint64_t sequence; /* the owner's; ascending */
	uint64_t from, to;
	enum record_type type;
	uint32_t resource;
	uint32_t text_size; /* with the NUL */
};

/* Zero at first, except that `file` is -1. */
struct marks {
	struct buf front, back; /* marks with their texts: the first ones, the last ones */
	size_t taken;           /* bytes of `front` that have been dropped */
	int file;               /* has the marks between the two; -1: there is none */
	bool has_no_file;       /* none could be made or written: marks stay in memory */
	uint64_t file_read, file_size;
};

/* Adds a record: an object, a build-id, a note, a comment, a scan, a block that a scan has found lost, or a resident
 * size. */
void marks_add(struct marks *marks, uint64_t sequence, const struct record *record);
/* Returns the record that a mark was made from. Its text is valid as long as that of marks_first(). */
struct record mark_record(const struct mark *mark, const char *text);
/* Returns the first mark and its text, which are valid until the next call. Returns NULL if there is none, or if the
 * file cannot be read; in that case *error is -errno, and else 0. */
const struct mark *marks_first(struct marks *marks, const char **text, int *error);
/* Removes the first mark. */
void marks_drop(struct marks *marks);
void marks_free(struct marks *marks);

#endif
