#include "config.h"
#include "record/unread_calls.h"
#include "record/released_blocks.h"
#include "record/resource_ids.h"
#include "record/put_records.h"
#include "record/run.h"
#include "engine/engine.h"
#include "trace/note_end.h"
#include "trace/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define UNREAD_MAX (1u << 20)

/* The blocks that the left-out calls of one kind have released and made: id -> packed block. Of a packed block, only
 * the size is used, and the function that allocated or released the id. */
struct unread_calls_kind {
	/* released blocks that were allocated before the first call was left out; these are written first */
	struct hash released;
	struct hash made;
};

struct unread_calls {
	bool is_open;                    /* calls are being left out at present */
	uint64_t calls;                  /* number of calls that were left out */
	struct unread_calls_kind *kinds; /* indexed by the kind's id */
	uint32_t count;
};

struct unread_calls *unread_calls_new(const struct trace *trace)
{
	if (!trace->run->set->report.is_live)
		return NULL;
	struct unread_calls *const unread = xcalloc(1, sizeof(*unread));

	unread->count = kinds_end(trace->run->set);
	unread->kinds = xcalloc(unread->count, sizeof(*unread->kinds));
	return unread;
}

static void unread_calls_forget(struct unread_calls *unread)
{
	for (uint32_t i = 0; i < unread->count; i++) {
		hash_free(&unread->kinds[i].released);
		hash_free(&unread->kinds[i].made);
	}
}

void unread_calls_free(struct unread_calls *unread)
{
	if (!unread)
		return;
	unread_calls_forget(unread);
	free(unread->kinds);
	free(unread);
}

static void unread_calls_note(struct unread_calls *unread, const struct trace *trace, const struct event *e,
			      enum call_kind kind)
{
	struct unread_calls_kind *const which = &unread->kinds[e->function->resource];
	const struct live_block block = {.size = e->size < BLOCK_SIZE_MAX ? e->size : BLOCK_SIZE_MAX,
					 .maker = function_number(trace->run, e->function)};

	if (kind == CALL_ALLOC)
		hash_set(&which->made, e->id, block_pack(&block));
	else if (kind == CALL_RELEASE && !hash_remove(&which->made, e->id, NULL))
		hash_set(&which->released, e->id, block_pack(&block));
}

bool unread_calls_take(struct trace *trace, const struct event *e, enum call_kind kind)
{
	struct unread_calls *const unread = trace->output.unread;

	if (!unread)
		return false;
	const struct resource *const resource = kind_of(trace->run->set, e->function->resource);

	if (resource->flags & RESOURCE_REFCOUNT)
		return false;
	if (!unread->is_open && writer_waiting(trace->output.writer) < UNREAD_MAX)
		return false;
	unread->is_open = true;
	unread->calls++;
	trace->output.next_index++;
	if (kind_lives(resource))
		unread_calls_note(unread, trace, e, kind);
	engine_want_tick(trace->run->engine);
	return true;
}

static void unread_calls_put(struct trace *trace, uint32_t resource, const struct hash *blocks, enum call_kind kind)
{
	const struct hash_entry *entry;

	for (size_t i = 0; (entry = hash_next(blocks, &i));) {
		const struct live_block block = block_unpack(entry->value);

		put_record(trace,
			   &(struct record){.type = RECORD_CALL,
					    .call = {.index = trace->output.next_index++,
						     .time_ns = times_written(&trace->times, times_now(&trace->times)),
						     .resource = resource,
						     .kind = kind,
						     .function = block.maker ? function_shown(trace->run, block.maker)
									     : kind_of(trace->run->set, resource)->type,
						     .id = entry->key,
						     .size = kind == CALL_RELEASE ? 0 : block.size}});
	}
}

void unread_calls_look(struct trace *trace, bool is_end)
{
	struct unread_calls *const unread = trace->output.unread;
	char text[128];

	if (!unread || !unread->is_open)
		return;
	if (!is_end && writer_waiting(trace->output.writer)) {
		engine_want_tick(trace->run->engine);
		return;
	}
	unread->is_open = false;
	snprintf(text, sizeof(text), NOTE_UNREAD PRIu64, unread->calls);
	put_record(trace, &(struct record){.type = RECORD_NOTE, .note = {text}});
	for (uint32_t id = 1; id < unread->count; id++)
		unread_calls_put(trace, id, &unread->kinds[id].released, CALL_RELEASE);
	for (uint32_t id = 1; id < unread->count; id++)
		unread_calls_put(trace, id, &unread->kinds[id].made, CALL_ALLOC);
	unread_calls_forget(unread);
	unread->calls = 0;
	trace->output.last_thread = 0;
}
