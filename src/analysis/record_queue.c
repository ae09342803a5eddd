#include "config.h"
#include "analysis/record_queue.h"
#include "analysis/stage.h"
#include "base/util.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* limit of `front` and of `back` in bytes; the last record may exceed it */
#define PART_MAX (256u * 1024)

/* Returns the size of a queued record with its text, rounded up so that the next one is aligned. */
static size_t queued_record_size(const struct queued_record *queued)
{
	return (sizeof(*queued) + queued->text_size + 7) & ~(size_t)7;
}

static bool write_back(struct record_queue *queue)
{
	if (queue->file < 0 && !queue->has_no_file)
		queue->file = temporary_file();
	if (queue->file < 0 || !write_all_at(queue->file, queue->back.data, queue->back.size, queue->file_size))
		return false;
	queue->file_size += queue->back.size;
	queue->back.size = 0;
	return true;
}

static struct queued_record queued_record_pack(const struct record *record, const char **text)
{
	struct queued_record queued = {.type = record->type};

	switch (record->type) {
	case RECORD_OBJECT:
		queued.from = record->object.from;
		queued.to = record->object.to;
		*text = record->object.path;
		break;
	case RECORD_BUILD_ID:
		queued.from = record->build_id.from;
		*text = record->build_id.hex;
		break;
	case RECORD_NOTE:
		*text = record->note.text;
		break;
	case RECORD_SCAN:
		queued.resource = record->scan.resource;
		*text = record->scan.reason;
		break;
	case RECORD_LOST:
		queued.resource = record->lost.resource;
		queued.from = record->lost.id;
		queued.to = record->lost.kind;
		*text = "";
		break;
	case RECORD_RESIDENT:
		queued.from = record->resident.now;
		queued.to = record->resident.peak;
		*text = "";
		break;
	default:
		*text = record->comment.text;
	}
	*text = string_or_empty(*text);
	queued.text_size = (uint32_t)strlen(*text) + 1;
	return queued;
}

struct record queued_record_unpack(const struct queued_record *queued, const char *text)
{
	struct record record = {.type = queued->type};

	switch (queued->type) {
	case RECORD_OBJECT:
		record.object = (struct record_object){queued->from, queued->to, text};
		break;
	case RECORD_BUILD_ID:
		record.build_id = (struct record_build_id){queued->from, text};
		break;
	case RECORD_NOTE:
		record.note.text = text;
		break;
	case RECORD_SCAN:
		record.scan = (struct record_scan){queued->resource, text};
		break;
	case RECORD_LOST:
		record.lost = (struct record_lost){queued->resource, queued->from, (enum lost_kind)queued->to};
		break;
	case RECORD_RESIDENT:
		record.resident = (struct record_resident){queued->from, queued->to};
		break;
	default:
		record.comment.text = text;
	}
	return record;
}

void record_queue_add(struct record_queue *queue, uint64_t sequence, const struct record *record)
{
	const char *text;
	struct queued_record queued = queued_record_pack(record, &text);
	const size_t size = queued_record_size(&queued);
	unsigned char *const to = buf_room(&queue->back, size);

	queued.sequence = sequence;
	memset(to, 0, size);
	memcpy(to, &queued, sizeof(queued));
	memcpy(to + sizeof(queued), text, queued.text_size);
	queue->back.size += size;
	if (queue->back.size >= PART_MAX && !queue->has_no_file)
		queue->has_no_file = !write_back(queue);
}

/* Reads the next records from the file into `front`. If the last one in the buffer is not complete, leaves it in the
 * file. */
static int record_queue_read_part(struct record_queue *queue)
{
	const uint64_t left = queue->file_size - queue->file_read;
	size_t wanted = left < PART_MAX ? (size_t)left : PART_MAX, whole = 0;

	for (;;) {
		queue->front.size = 0;
		const ssize_t got =
			pread(queue->file, buf_room(&queue->front, wanted), wanted, (off_t)queue->file_read);

		if (got < 0 && errno == EINTR)
			continue;
		if (got != (ssize_t)wanted)
			return got < 0 ? -errno : -EIO;
		while (wanted - whole >= sizeof(struct queued_record)) {
			const struct queued_record *const queued =
				(const struct queued_record *)(const void *)(queue->front.data + whole);

			if (queued_record_size(queued) > wanted - whole)
				break;
			whole += queued_record_size(queued);
		}
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
	if (queue->file_read < queue->file_size)
		return record_queue_read_part(queue);
	if (queue->file_size && ftruncate(queue->file, 0) == 0)
		queue->file_read = queue->file_size = 0;
	const struct buf front = queue->front;

	queue->front = queue->back;
	queue->back = front;
	return 0;
}

const struct queued_record *record_queue_first(struct record_queue *queue, const char **text, int *error)
{
	*error = queue->taken == queue->front.size ? fill_front(queue) : 0;
	if (*error || queue->taken == queue->front.size)
		return NULL;
	const unsigned char *const at = queue->front.data + queue->taken;

	*text = (const char *)at + sizeof(struct queued_record);
	return (const struct queued_record *)(const void *)at;
}

void record_queue_drop(struct record_queue *queue)
{
	queue->taken +=
		queued_record_size((const struct queued_record *)(const void *)(queue->front.data + queue->taken));
}

void record_queue_free(struct record_queue *queue)
{
	buf_free(&queue->front);
	buf_free(&queue->back);
	if (queue->file >= 0)
		close(queue->file);
	*queue = (struct record_queue){.file = -1};
}
