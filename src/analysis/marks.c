#include "config.h"
#include "analysis/marks.h"
#include "analysis/stage.h"
#include "base/util.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define PART_MAX (256u * 1024) /* bytes of `front` and of `back`, without the last mark */

/* Returns the bytes of a mark with its text, rounded up so that the next mark is aligned. */
static size_t mark_size(const struct mark *mark)
{
	return (sizeof(*mark) + mark->text_size + 7) & ~(size_t)7;
}

static bool write_back(struct marks *marks)
{
	if (marks->file < 0 && !marks->has_no_file)
		marks->file = temporary_file();
	if (marks->file < 0 || !write_all_at(marks->file, marks->back.data, marks->back.size, marks->file_size))
		return false;
	marks->file_size += marks->back.size;
	marks->back.size = 0;
	return true;
}

static struct mark marks_mark_of(const struct record *record, const char **text)
{
	struct mark mark = {.type = record->type};

	switch (record->type) {
	case RECORD_OBJECT:
		mark.from = record->object.from;
		mark.to = record->object.to;
		*text = record->object.path;
		break;
	case RECORD_BUILD_ID:
		mark.from = record->build_id.from;
		*text = record->build_id.hex;
		break;
	case RECORD_NOTE:
		*text = record->note.text;
		break;
	case RECORD_SCAN:
		mark.resource = record->scan.resource;
		*text = record->scan.reason;
		break;
	case RECORD_LOST:
		mark.resource = record->lost.resource;
		mark.from = record->lost.id;
		mark.to = record->lost.kind;
		*text = "";
		break;
	case RECORD_RESIDENT:
		mark.from = record->resident.now;
		mark.to = record->resident.peak;
		*text = "";
		break;
	default:
		*text = record->comment.text;
	}
	*text = string_or_empty(*text);
	mark.text_size = (uint32_t)strlen(*text) + 1;
	return mark;
}

struct record mark_record(const struct mark *mark, const char *text)
{
	struct record record = {.type = mark->type};

	switch (mark->type) {
	case RECORD_OBJECT:
		record.object = (struct record_object){mark->from, mark->to, text};
		break;
	case RECORD_BUILD_ID:
		record.build_id = (struct record_build_id){mark->from, text};
		break;
	case RECORD_NOTE:
		record.note.text = text;
		break;
	case RECORD_SCAN:
		record.scan = (struct record_scan){mark->resource, text};
		break;
	case RECORD_LOST:
		record.lost = (struct record_lost){mark->resource, mark->from, (enum lost_kind)mark->to};
		break;
	case RECORD_RESIDENT:
		record.resident = (struct record_resident){mark->from, mark->to};
		break;
	default:
		record.comment.text = text;
	}
	return record;
}

void marks_add(struct marks *marks, uint64_t sequence, const struct record *record)
{
	const char *text;
	struct mark mark = marks_mark_of(record, &text);
	const size_t size = mark_size(&mark);
	unsigned char *const to = buf_room(&marks->back, size);

	mark.sequence = sequence;
	memset(to, 0, size);
	memcpy(to, &mark, sizeof(mark));
	memcpy(to + sizeof(mark), text, mark.text_size);
	marks->back.size += size;
	if (marks->back.size >= PART_MAX && !marks->has_no_file)
		marks->has_no_file = !write_back(marks);
}

/* Reads the next part of the file. It contains whole marks, but the part's end may cut the last one off. */
static int marks_read_part(struct marks *marks)
{
	const uint64_t left = marks->file_size - marks->file_read;
	size_t wanted = left < PART_MAX ? (size_t)left : PART_MAX, whole = 0;

	for (;;) {
		marks->front.size = 0;
		const ssize_t got =
			pread(marks->file, buf_room(&marks->front, wanted), wanted, (off_t)marks->file_read);

		if (got < 0 && errno == EINTR)
			continue;
		if (got != (ssize_t)wanted)
			return got < 0 ? -errno : -EIO;
		while (wanted - whole >= sizeof(struct mark)) {
			const struct mark *const mark = (const struct mark *)(const void *)(marks->front.data + whole);

			if (mark_size(mark) > wanted - whole)
				break;
			whole += mark_size(mark);
		}
		if (whole)
			break;
		wanted = left < 2 * (uint64_t)wanted ? (size_t)left : 2 * wanted; /* one mark is longer than the part */
	}
	marks->front.size = whole;
	marks->file_read += whole;
	return 0;
}

static int fill_front(struct marks *marks)
{
	marks->taken = marks->front.size = 0;
	if (marks->file_read < marks->file_size)
		return marks_read_part(marks);
	if (marks->file_size && ftruncate(marks->file, 0) == 0)
		marks->file_read = marks->file_size = 0;
	const struct buf front = marks->front;

	marks->front = marks->back;
	marks->back = front;
	return 0;
}

const struct mark *marks_first(struct marks *marks, const char **text, int *error)
{
	*error = marks->taken == marks->front.size ? fill_front(marks) : 0;
	if (*error || marks->taken == marks->front.size)
		return NULL;
	const unsigned char *const at = marks->front.data + marks->taken;

	*text = (const char *)at + sizeof(struct mark);
	return (const struct mark *)(const void *)at;
}

void marks_drop(struct marks *marks)
{
	marks->taken += mark_size((const struct mark *)(const void *)(marks->front.data + marks->taken));
}

void marks_free(struct marks *marks)
{
	buf_free(&marks->front);
	buf_free(&marks->back);
	if (marks->file >= 0)
		close(marks->file);
	*marks = (struct marks){.file = -1};
}
