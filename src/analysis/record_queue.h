/* A queue for a stage that holds calls back: it stores the records between these calls, with their place among them. It
 * uses a bounded amount of memory; further records are stored in a temporary file. */
#ifndef FT_ANALYSIS_RECORD_QUEUE_H
#define FT_ANALYSIS_RECORD_QUEUE_H

#include "trace/event.h"
#include "base/buf.h"

struct queued_record {
	uint64_t sequence; /* place of the record, in the numbering of the queue's user; ascending */
	uint64_t from, to;
	enum record_type type;
	uint32_t resource;
	uint32_t text_size; /* bytes of the text, with the NUL */
};

/* Must be zero at first, except that `file` must be -1. */
struct record_queue {
	/* the first and the last records of the queue, each followed by its text */
	struct buf front, back;
	size_t taken;     /* bytes of `front` that were dropped */
	int file;         /* temporary file with the records between `front` and `back`; -1 if there is none */
	bool has_no_file; /* the file could not be created or written, so all records stay in memory */
	uint64_t file_read, file_size;
};

/* Appends a record. Its type must be an object, a build-id, a note, a comment, a scan, a lost block or a resident
 * size. */
void record_queue_add(struct record_queue *queue, uint64_t sequence, const struct record *record);
/* Returns the record for a queued record and its text, as returned by record_queue_first(). It is valid as long as
 * these. */
struct record queued_record_unpack(const struct queued_record *queued, const char *text);
/* Returns the first queued record, and its text in *text; both are valid until the next call. Returns NULL if the queue
 * is empty or the file cannot be read. Sets *error to -errno if the file cannot be read, else to 0. */
const struct queued_record *record_queue_first(struct record_queue *queue, const char **text, int *error);
/* Removes the first queued record. */
void record_queue_drop(struct record_queue *queue);
void record_queue_free(struct record_queue *queue);

#endif
