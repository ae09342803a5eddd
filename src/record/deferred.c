#include "config.h"
#include "record/deferred.h"
#include "base/util.h"

#include <stdlib.h>

#define BYTES_MAX (64u << 20) /* some 200,000 calls */

/* A record, and behind it what its pointers lead to. */
struct kept {
	struct kept *next;
	struct record record;
	uint64_t words[];
};

struct deferred {
	struct kept *first, **end;
	size_t bytes;
};

struct deferred *deferred_new(void)
{
	struct deferred *const deferred = xcalloc(1, sizeof(*deferred));

	deferred->end = &deferred->first;
	return deferred;
}

static size_t text_size(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

static size_t args_size(const struct record_call *call)
{
	size_t size = call->arg_count * sizeof(*call->args);

	for (uint32_t i = 0; i < call->arg_count; i++)
		size += text_size(call->args[i].name) + text_size(call->args[i].value);
	return size;
}

/* Of what the record's pointers lead to. 0: also of a type that is not kept: *is_kept. */
static size_t extent_of(const struct record *record, bool *is_kept)
{
	*is_kept = true;
	switch (record->type) {
	case RECORD_CALL:
		*is_kept = !record->call.frame_texts && !record->call.summary;
		return record->call.frame_count * sizeof(*record->call.frames) + args_size(&record->call) +
		       text_size(record->call.function);
	case RECORD_THREAD:
		return text_size(record->thread.name);
	case RECORD_NOTE:
		return text_size(record->note.text);
	case RECORD_CONTEXT:
		return text_size(record->context.name);
	case RECORD_AREA:
	case RECORD_RESIDENT:
		return 0;
	default:
		*is_kept = false;
		return 0;
	}
}

static const void *put_bytes(unsigned char **at, const void *bytes, size_t size)
{
	void *const place = *at;

	if (!bytes)
		return NULL;
	memcpy(place, bytes, size);
	*at += size;
	return place;
}

static const char *put_text(unsigned char **at, const char *text)
{
	return put_bytes(at, text, text_size(text));
}

/* The words first, so that they are aligned. */
static void put_call(struct record_call *call, unsigned char *at)
{
	struct call_arg *args;

	call->frames = put_bytes(&at, call->frames, call->frame_count * sizeof(*call->frames));
	args = (struct call_arg *)(void *)at;
	call->args = put_bytes(&at, call->args, call->arg_count * sizeof(*call->args));
	for (uint32_t i = 0; i < call->arg_count; i++) {
		args[i].name = put_text(&at, args[i].name);
		args[i].value = put_text(&at, args[i].value);
	}
	call->function = put_text(&at, call->function);
}

static void put_parts(struct kept *kept)
{
	unsigned char *at = (unsigned char *)kept->words;

	switch (kept->record.type) {
	case RECORD_CALL:
		put_call(&kept->record.call, at);
		break;
	case RECORD_THREAD:
		kept->record.thread.name = put_text(&at, kept->record.thread.name);
		break;
	case RECORD_NOTE:
		kept->record.note.text = put_text(&at, kept->record.note.text);
		break;
	case RECORD_CONTEXT:
		kept->record.context.name = put_text(&at, kept->record.context.name);
		break;
	default:
		break;
	}
}

bool deferred_keep(struct deferred *deferred, const struct record *record)
{
	bool is_kept;
	const size_t size = sizeof(struct kept) + extent_of(record, &is_kept);

	if (!is_kept || size > BYTES_MAX - deferred->bytes)
		return false;
	struct kept *const kept = xmalloc(size);

	kept->next = NULL;
	kept->record = *record;
	put_parts(kept);
	*deferred->end = kept;
	deferred->end = &kept->next;
	deferred->bytes += size;
	return true;
}

void deferred_end(struct deferred *deferred, void (*put)(void *context, const struct record *record), void *context)
{
	struct kept *next;

	for (struct kept *kept = deferred->first; kept; kept = next) {
		next = kept->next;
		put(context, &kept->record);
		free(kept);
	}
	free(deferred);
}
