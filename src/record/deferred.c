#include "config.h"
#include "record/deferred.h"
#include "base/util.h"

#include <stdlib.h>

#define BYTES_MAX (64u << 20) /* maximum bytes of the queue: about 200,000 calls */

/* A queued record. Copies of all strings and arrays to which the record points follow it in `words`. */
struct kept {
	struct kept *next;
	size_t size;
	/* the names of a call's frames; NULL for other records, and if frames get no names */
	struct named_address **names;
	struct record record;
	uint64_t words[];
};

struct deferred {
	struct kept *first, **end;
	/* the mark (deferred.h): the link (`first`, or a record's `next`) to the record after the mark; NULL if there
	 * is no mark */
	struct kept **mark;
	size_t bytes;
};

struct deferred *deferred_new(void)
{
	struct deferred *const deferred = xcalloc(1, sizeof(*deferred));

	deferred->end = &deferred->first;
	return deferred;
}

static size_t deferred_text_size(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

static size_t args_size(const struct record_call *call)
{
	size_t size = call->arg_count * sizeof(*call->args);

	for (uint32_t i = 0; i < call->arg_count; i++)
		size += deferred_text_size(call->args[i].name) + deferred_text_size(call->args[i].value);
	return size;
}

static size_t call_size(const struct record_call *call, bool is_named)
{
	const size_t frame_size = sizeof(*call->frames) + (is_named ? sizeof(struct named_address *) : 0);

	return call->frame_count * frame_size + args_size(call) + deferred_text_size(call->function);
}

/* Returns the size of the strings and arrays to which the record points. Sets *is_kept to false if the record cannot be
 * queued, else to true. */
static size_t extent_of(const struct record *record, bool is_named, bool *is_kept)
{
	*is_kept = true;
	switch (record->type) {
	case RECORD_CALL:
		*is_kept = !record->call.frame_texts && !record->call.summary;
		return call_size(&record->call, is_named);
	case RECORD_THREAD:
		return deferred_text_size(record->thread.name);
	case RECORD_NOTE:
		return deferred_text_size(record->note.text);
	case RECORD_CONTEXT:
		return deferred_text_size(record->context.name);
	case RECORD_OBJECT:
		return deferred_text_size(record->object.path);
	case RECORD_BUILD_ID:
		return deferred_text_size(record->build_id.hex);
	case RECORD_SCAN:
		return deferred_text_size(record->scan.reason);
	case RECORD_BASELINE:
		return record->baseline.count * sizeof(*record->baseline.blocks);
	case RECORD_AREA:
	case RECORD_RESIDENT:
	case RECORD_HEAP:
	case RECORD_LOST:
		return 0;
	default:
		*is_kept = false;
		return 0;
	}
}

static const void *deferred_put_bytes(unsigned char **at, const void *bytes, size_t size)
{
	void *const place = *at;

	if (!bytes)
		return NULL;
	memcpy(place, bytes, size);
	*at += size;
	return place;
}

static const char *deferred_put_text(unsigned char **at, const char *text)
{
	return deferred_put_bytes(at, text, deferred_text_size(text));
}

/* Copies the arrays and strings of a call to `at`: first the arrays, so that the frames, names and arguments are
 * aligned. */
static void deferred_put_call(struct kept *kept, struct named_address *const *names, unsigned char *at)
{
	struct record_call *const call = &kept->record.call;
	struct call_arg *args;

	call->frames = deferred_put_bytes(&at, call->frames, call->frame_count * sizeof(*call->frames));
	kept->names =
		(struct named_address **)(uintptr_t)deferred_put_bytes(&at, names, call->frame_count * sizeof(*names));
	args = (struct call_arg *)(void *)at;
	call->args = deferred_put_bytes(&at, call->args, call->arg_count * sizeof(*call->args));
	for (uint32_t i = 0; i < call->arg_count; i++) {
		args[i].name = deferred_put_text(&at, args[i].name);
		args[i].value = deferred_put_text(&at, args[i].value);
	}
	call->function = deferred_put_text(&at, call->function);
}

static void put_parts(struct kept *kept, struct named_address *const *names)
{
	unsigned char *at = (unsigned char *)kept->words;

	switch (kept->record.type) {
	case RECORD_CALL:
		deferred_put_call(kept, names, at);
		break;
	case RECORD_THREAD:
		kept->record.thread.name = deferred_put_text(&at, kept->record.thread.name);
		break;
	case RECORD_NOTE:
		kept->record.note.text = deferred_put_text(&at, kept->record.note.text);
		break;
	case RECORD_CONTEXT:
		kept->record.context.name = deferred_put_text(&at, kept->record.context.name);
		break;
	case RECORD_OBJECT:
		kept->record.object.path = deferred_put_text(&at, kept->record.object.path);
		break;
	case RECORD_BUILD_ID:
		kept->record.build_id.hex = deferred_put_text(&at, kept->record.build_id.hex);
		break;
	case RECORD_SCAN:
		kept->record.scan.reason = deferred_put_text(&at, kept->record.scan.reason);
		break;
	case RECORD_BASELINE:
		kept->record.baseline.blocks = deferred_put_bytes(
			&at, kept->record.baseline.blocks, kept->record.baseline.count * sizeof(struct baseline_block));
		break;
	default:
		break;
	}
}

bool deferred_keep(struct deferred *deferred, const struct record *record, struct named_address *const *names,
		   bool before_mark)
{
	bool is_kept;
	const size_t size = sizeof(struct kept) + extent_of(record, names, &is_kept);
	struct kept **const place = before_mark && deferred->mark ? deferred->mark : deferred->end;

	if (!is_kept || size > BYTES_MAX - deferred->bytes)
		return false;
	struct kept *const kept = xmalloc(size);

	*kept = (struct kept){.next = *place, .size = size, .record = *record};
	put_parts(kept, names);
	*place = kept;
	if (place == deferred->end)
		deferred->end = &kept->next;
	if (before_mark && deferred->mark)
		deferred->mark = &kept->next;
	deferred->bytes += size;
	return true;
}

void deferred_mark(struct deferred *deferred)
{
	deferred->mark = deferred->end;
}

void deferred_unmark(struct deferred *deferred)
{
	deferred->mark = NULL;
}

bool deferred_is_marked(const struct deferred *deferred)
{
	return deferred->mark;
}

bool deferred_has_older(const struct deferred *deferred)
{
	return deferred->first && deferred->mark != &deferred->first;
}

const struct record *deferred_first(const struct deferred *deferred, struct named_address *const **names)
{
	const struct kept *const first = deferred->first;

	*names = first ? first->names : NULL;
	return first ? &first->record : NULL;
}

void deferred_drop(struct deferred *deferred)
{
	struct kept *const first = deferred->first;

	deferred->first = first->next;
	if (deferred->end == &first->next)
		deferred->end = &deferred->first;
	if (deferred->mark == &first->next)
		deferred->mark = &deferred->first;
	deferred->bytes -= first->size;
	free(first);
}

void deferred_free(struct deferred *deferred)
{
	while (deferred->first)
		deferred_drop(deferred);
	free(deferred);
}
