/* A queue of records that keep their places between the calls that a stage holds back. It uses a bounded amount of
 * memory; records that have no room there wait in a temporary file. */
#ifndef FT_ANALYSIS_RECORD_QUEUE_H
#define FT_ANALYSIS_RECORD_QUEUE_H

#include "trace/event.h"
#include "base/buf.h"

struct queued_record {
	uint64_t sequence; /* the owner's; ascending */
	uint64_t from, to;
	enum record_type type;
	uint32_t resource;
	uint32_t text_size; /* with the NUL */
};

/* Zero at first, except that `file` is -1. */
struct record_queue {
	struct buf front, back; /* records with their texts: the first ones, the last ones */
	size_t taken;           /* bytes of `front` that have been dropped */
	int file;               /* has the records between the two; -1: there is none */
	bool has_no_file;       /* none could be made or written: records stay in memory */
	uint64_t file_read, file_size;
};

/* Adds a record: an object, a build-id, a note, a comment, a scan, a block that a scan has found lost, or a resident
 * size. */
void record_queue_add(struct record_queue *queue, uint64_t sequence, const struct record *record);
/* Returns the record that was queued. Its text is valid as long as that of record_queue_first(). */
struct record queued_record_unpack(const struct queued_record *queued, const char *text);
/* Returns the first queued record and its text, which are valid until the next call. Returns NULL if there is none, or
 * if the file cannot be read; in that case *error is -errno, and else 0. */
const struct queued_record *record_queue_first(struct record_queue *queue, const char **text, int *error);
/* Removes the first queued record. */
void record_queue_drop(struct record_queue *queue);
void record_queue_free(struct record_queue *queue);

#endif
