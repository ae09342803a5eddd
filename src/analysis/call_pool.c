#include "config.h"
#include "analysis/call_pool.h"

#include <stdlib.h>
#include <string.h>

struct held_chunk {
	struct held_chunk *next;
	struct held_call calls[128];
};

static struct held_call *take_unused(struct call_pool *pool)
{
	if (!pool->unused) {
		struct held_chunk *chunk = xmalloc(sizeof(*chunk));

		chunk->next = pool->chunks;
		pool->chunks = chunk;
		for (size_t i = ARRAY_SIZE(chunk->calls); i--;) {
			chunk->calls[i].args = NULL;
			chunk->calls[i].next = pool->unused;
			pool->unused = &chunk->calls[i];
		}
	}
	struct held_call *call = pool->unused;

	pool->unused = call->next;
	return call;
}

static char *copy_string(char **place, const char *text)
{
	char *copy = *place;
	const size_t size = strlen(text) + 1;

	memcpy(copy, text, size);
	*place += size;
	return copy;
}

static struct call_arg *copy_args(const struct call_arg *args, uint32_t count)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < count; i++)
		bytes += strlen(string_or_empty(args[i].name)) + strlen(string_or_empty(args[i].value)) + 2;
	struct call_arg *copy = xmalloc(count * sizeof(*copy) + bytes);
	char *place = (char *)(copy + count);

	for (uint32_t i = 0; i < count; i++) {
		copy[i].name = copy_string(&place, string_or_empty(args[i].name));
		copy[i].value = copy_string(&place, string_or_empty(args[i].value));
	}
	return copy;
}

struct held_call *call_pool_call(struct call_pool *pool, const struct record_call *call)
{
	struct held_call *held = take_unused(pool);

	*held = (struct held_call){
		.stack = call->has_frames ? stack_intern(&pool->stacks, call) : NULL,
		.function = string_intern(&pool->strings, call->function),
		.args = call->arg_count ? copy_args(call->args, call->arg_count) : NULL,
		.thread = pool->thread,
		.index = call->index,
		.time_ns = call->time_ns,
		.id = call->id,
		.size = call->size,
		.resource = call->resource,
		.context = call->context,
		.arg_count = call->arg_count,
		.references = 1,
		.kind = call->kind,
	};
	return held;
}

void call_pool_release(struct call_pool *pool, struct held_call *call)
{
	free(call->args);
	call->args = NULL;
	call->next = pool->unused;
	pool->unused = call;
}

/* The number of a thread's last names with which a new name is compared, because some threads alternate between a few
 * names. (A thread may be renamed; a call keeps the name that its thread had at the call.) */
enum { NAMES_LOOKED_AT = 8 };

void call_pool_thread(struct call_pool *pool, const struct record_thread *thread)
{
	struct held_thread *newest = hash_get_ptr(&pool->threads, thread->tid);
	const char *name = string_intern(&pool->strings, string_or_empty(thread->name));
	struct held_thread *known = newest;

	for (unsigned i = 1; known && known->name != name; i++)
		known = i < NAMES_LOOKED_AT ? known->older : NULL;
	if (!known) {
		known = xmalloc(sizeof(*known));
		*known = (struct held_thread){.tid = thread->tid, .name = name, .older = newest};
		hash_set_ptr(&pool->threads, thread->tid, known);
	}
	pool->thread = known;
}

void held_to_record(const struct held_call *held, struct record *record)
{
	*record = (struct record){.type = RECORD_CALL,
				  .call = {
					  .index = held->index,
					  .time_ns = held->time_ns,
					  .resource = held->resource,
					  .context = held->context,
					  .kind = held->kind,
					  .function = held->function,
					  .id = held->id,
					  .size = held->size,
					  .args = held->args,
					  .arg_count = held->arg_count,
				  }};
	if (held->stack)
		stack_to_call(held->stack, &record->call);
}

int call_pool_put(struct call_pool *pool, const struct held_call *call, struct stage *next)
{
	struct record record;

	if (call->thread && call->thread != pool->put) {
		const struct record thread = {.type = RECORD_THREAD,
					      .thread = {.tid = call->thread->tid, .name = call->thread->name}};
		const int error = stage_put(next, &thread);

		if (error)
			return error;
		pool->put = call->thread;
	}
	held_to_record(call, &record);
	return stage_put(next, &record);
}

void call_pool_free(struct call_pool *pool)
{
	struct hash_entry *entry;

	while (pool->chunks) {
		struct held_chunk *chunk = pool->chunks;

		for (size_t i = 0; i < ARRAY_SIZE(chunk->calls); i++)
			free(chunk->calls[i].args);
		pool->chunks = chunk->next;
		free(chunk);
	}
	for (size_t i = 0; (entry = hash_next(&pool->threads, &i));) {
		struct held_thread *thread = (void *)(uintptr_t)entry->value;

		while (thread) {
			struct held_thread *older = thread->older;

			free(thread);
			thread = older;
		}
	}
	hash_free(&pool->threads);
	stack_pool_free(&pool->stacks);
	intern_pool_free(&pool->strings);
}
