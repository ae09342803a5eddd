#include "config.h"
#include "analysis/record_queue.h"
#include "base/msg.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* maximum size of `front` and of `back` in bytes; the last record may exceed it */
#define PART_MAX (256u * 1024)

/* A record in the queue, followed by its texts. */
struct queued_record {
	uint64_t place;
	size_t size; /* size of the record with its texts, rounded up to the alignment of the next record */
	struct record record;
};

/* The pointers to texts in a record: the offset of the first pointer, and the number of consecutive pointers. */
static const struct {
	size_t offset, count;
} texts_of[RECORD_INTERVAL + 1] = {
	[RECORD_MODULE] = {offsetof(struct record, module.name), 1},
	[RECORD_RESOURCE] = {offsetof(struct record, resource.type), 2},
	[RECORD_CONTEXT] = {offsetof(struct record, context.name), 1},
	[RECORD_OBJECT] = {offsetof(struct record, object.path), 1},
	[RECORD_BUILD_ID] = {offsetof(struct record, build_id.hex), 1},
	[RECORD_THREAD] = {offsetof(struct record, thread.name), 1},
	[RECORD_NOTE] = {offsetof(struct record, note.text), 1},
	[RECORD_ATTACHMENT] = {offsetof(struct record, attachment.name), 2},
	[RECORD_COMMENT] = {offsetof(struct record, comment.text), 1},
	[RECORD_SCAN] = {offsetof(struct record, scan.reason), 1},
};

static const char **queued_record_text(struct record *record, size_t number)
{
	return (const char **)(void *)((char *)record + texts_of[record->type].offset) + number;
}

static bool write_back(struct record_queue *queue)
{
	if (!queue->has_file) {
		queue->file = temporary_file();
		queue->has_file = queue->file >= 0;
	}
	if (!queue->has_file || !write_all_at(queue->file, queue->back.data, queue->back.size, queue->file_size))
		return false;
	queue->file_size += queue->back.size;
	queue->back.size = 0;
	return true;
}

void record_queue_add(struct record_queue *queue, uint64_t place, const struct record *record)
{
	struct queued_record queued = {.place = place, .size = sizeof(queued), .record = *record};
	const size_t count = texts_of[record->type].count;

	for (size_t i = 0; i < count; i++)
		queued.size += strlen(string_or_empty(*queued_record_text(&queued.record, i))) + 1;
	queued.size = (queued.size + 7) & ~(size_t)7;
	unsigned char *const to = buf_room(&queue->back, queued.size);

	memset(to, 0, queued.size);
	memcpy(to, &queued, sizeof(queued));
	char *text = (char *)to + sizeof(queued);

	for (size_t i = 0; i < count; i++)
		text = stpcpy(text, string_or_empty(*queued_record_text(&queued.record, i))) + 1;
	queue->back.size += queued.size;
	queue->objects += record->type == RECORD_OBJECT;
	if (queue->back.size >= PART_MAX && !queue->has_no_file)
		queue->has_no_file = !write_back(queue);
}

static struct queued_record *queued_record_at(struct record_queue *queue, size_t offset)
{
	return (struct queued_record *)(void *)(queue->front.data + offset);
}

/* Reads the next part of the file. The file contains whole records, but the end of the part may cut the last one. */
static int record_queue_read_part(struct record_queue *queue)
{
	const uint64_t left = queue->file_size - queue->file_read;
	size_t wanted = left < PART_MAX ? (size_t)left : PART_MAX, whole = 0;

	for (;;) {
		queue->front.size = 0;
		const int error = read_all_at(queue->file, buf_room(&queue->front, wanted), wanted, queue->file_read);

		if (error)
			return error;
		while (wanted - whole >= sizeof(struct queued_record) &&
		       queued_record_at(queue, whole)->size <= wanted - whole)
			whole += queued_record_at(queue, whole)->size;
		if (whole)
			break;
		/* the first record is longer than the buffer */
		wanted = left < 2 * (uint64_t)wanted ? (size_t)left : 2 * wanted;
	}
	queue->front.size = whole;
	queue->file_read += whole;
	return 0;
}

static int fill_front(struct record_queue *queue)
{
	queue->taken = queue->front.size = 0;
	if (queue->file_read < queue->file_size) {
		const int error = record_queue_read_part(queue);

		if (error)
			msg_error("the temporary file of records cannot be read: %s", strerror(-error));
		return error;
	}
	if (queue->file_size && ftruncate(queue->file, 0) == 0)
		queue->file_read = queue->file_size = 0;
	const struct buf front = queue->front;

	queue->front = queue->back;
	queue->back = front;
	return 0;
}

const struct record *record_queue_take(struct record_queue *queue, uint64_t end, int *error)
{
	*error = queue->taken == queue->front.size ? fill_front(queue) : 0;
	if (*error || queue->taken == queue->front.size)
		return NULL;
	struct queued_record *const queued = queued_record_at(queue, queue->taken);
	const char *text = (const char *)(queued + 1);

	if (queued->place >= end)
		return NULL;
	for (size_t i = 0; i < texts_of[queued->record.type].count; i++) {
		*queued_record_text(&queued->record, i) = text;
		text += strlen(text) + 1;
	}
	queue->taken += queued->size;
	queue->objects -= queued->record.type == RECORD_OBJECT;
	return &queued->record;
}

int record_queue_put(struct record_queue *queue, uint64_t end, struct stage *next)
{
	const struct record *record;
	int error = 0;

	while (!error && (record = record_queue_take(queue, end, &error)))
		error = stage_put(next, record);
	return error;
}

void record_queue_free(struct record_queue *queue)
{
	buf_free(&queue->front);
	buf_free(&queue->back);
	if (queue->has_file)
		close(queue->file);
}
