/* Records that keep their places between the calls that a stage holds back: a queue. It takes a bounded part of memory;
 * the records that have no room there wait in a temporary file. */
#ifndef FT_ANALYSIS_MARKS_H
#define FT_ANALYSIS_MARKS_H

#include "trace/event.h"
#include "base/buf.h"

struct mark {
	uint64_t sequence; /* the owner's, ascending */
	uint64_t from, to;
	enum record_type type;
	uint32_t resource;
	uint32_t text_size; /* with the NUL */
};

/* Zero, but for `file`: -1. */
struct marks {
	struct buf front, back; /* marks with their texts: the first ones, the last ones */
	size_t taken;           /* of `front`: bytes that are out already */
	int file;               /* of those between; -1: there is none */
	bool has_no_file;       /* none could be made or written: it is all in memory */
	uint64_t file_read, file_size;
};

/* Adds a record: an object, a build-id, a note, a comment, a scan or a block that a scan has found lost. */
void marks_add(struct marks *marks, uint64_t sequence, const struct record *record);
/* The record that a mark was made of; its text stays as long as that of marks_first(). */
struct record mark_record(const struct mark *mark, const char *text);
/* The first mark, and its text, which stay until the next call; NULL: there is none, or, *error is -errno then, the
 * file cannot be read. */
const struct mark *marks_first(struct marks *marks, const char **text, int *error);
/* Takes out the first. */
void marks_drop(struct marks *marks);
void marks_free(struct marks *marks);

#endif
