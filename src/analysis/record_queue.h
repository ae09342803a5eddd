/* A queue for a stage that holds calls back. The queue stores the records between these calls, with the place of each
 * record among the calls. It uses a bounded amount of memory; further records are stored in a temporary file. */
#ifndef FT_ANALYSIS_RECORD_QUEUE_H
#define FT_ANALYSIS_RECORD_QUEUE_H

#include "analysis/stage.h"
#include "base/buf.h"

/* The struct must be zeroed before the first use. */
struct record_queue {
	/* the first and the last records of the queue, each followed by its texts */
	struct buf front, back;
	size_t taken;   /* bytes of `front` that were taken */
	size_t objects; /* number of records of objects in the queue */
	int file;       /* temporary file with the records between `front` and `back` */
	bool has_file;
	bool has_no_file; /* the file could not be created or written, so all records stay in memory */
	uint64_t file_read, file_size;
};

/* Appends a copy of a record, which must not be a process, call or baseline record. place: position of the record, in a
 * numbering that the queue's user chooses. It must not be less than the place of the previous record. */
void record_queue_add(struct record_queue *queue, uint64_t place, const struct record *record);
/* Removes the first record if its place is before `end`, and returns it. It stays valid until the next
 * record_queue_take(). Returns NULL if there is no such record. If the file cannot be read, prints a message, sets
 * *error to -errno and returns NULL; otherwise sets *error to 0. */
const struct record *record_queue_take(struct record_queue *queue, uint64_t end, int *error);
/* Removes the records whose places are before `end`, and passes them to a stage. Return value as stage_put(), or -errno
 * after a message if the file cannot be read. */
int record_queue_put(struct record_queue *queue, uint64_t end, struct stage *next);
void record_queue_free(struct record_queue *queue);

#endif
