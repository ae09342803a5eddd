#include "config.h"
#include "analysis/leaks/call_store.h"
#include "analysis/stage.h"
#include "base/leb128.h"
#include "base/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* MEMORY_LIMIT: number of bytes in memory above which lists are written to the temporary file. CHUNK_MIN: a list with
 * fewer bytes in memory is not written. */
enum { MEMORY_LIMIT = 16 << 20, CHUNK_MIN = 4 << 10 };

/* Size of a piece, in bytes: a piece ends after the call that makes it this large. */
enum { PIECE_SIZE = 8 << 10 };

enum flags { HAS_TIME = 1, HAS_FRAMES = 2, HAS_CONTEXT = 4, HAS_ARGS = 8, KIND_SHIFT = 4, HAS_TAG = 64 };

static void call_store_put_number(struct buf *out, uint64_t value)
{
	unsigned char *const p = buf_room(out, LEB128_MAX);

	out->size += (size_t)(leb128_put(p, value) - p);
}

static uint64_t call_store_take_number(const unsigned char **p)
{
	uint64_t value = 0;
	unsigned shift = 0;

	do
		value |= (uint64_t)(**p & 0x7f) << shift;
	while (shift += 7, *(*p)++ & 0x80);
	return value;
}

/* Encodes the signed difference of two numbers so that a small difference, positive or negative, becomes a small
 * number. */
static void put_difference(struct buf *out, uint64_t value, uint64_t last)
{
	const uint64_t difference = value - last;

	call_store_put_number(out, difference << 1 ^ (0 - (difference >> 63)));
}

static uint64_t take_difference(const unsigned char **p, uint64_t last)
{
	const uint64_t folded = call_store_take_number(p);

	return last + (folded >> 1 ^ (0 - (folded & 1)));
}

struct call_list *call_store_list(struct call_store *store)
{
	struct call_list *list = xcalloc(1, sizeof(*list));

	list->next = store->lists;
	store->lists = list;
	return list;
}

uint32_t call_store_add_stack(struct call_store *store, struct stack *stack)
{
	ARRAY_GROW(store->stacks, store->stack_capacity, store->stack_count);
	store->stacks[store->stack_count++] = stack;
	return (uint32_t)store->stack_count;
}

uint32_t call_store_stack(struct call_store *store, struct stack *stack)
{
	if (stack && !stack->user)
		stack->user = (void *)(uintptr_t)call_store_add_stack(store, stack);
	return stack ? (uint32_t)(uintptr_t)stack->user : 0;
}

static size_t call_store_function_number(struct call_store *store, const char *function)
{
	/* Nearly always the function is that of the previous call. */
	if (store->function_count && !strcmp(string_or_empty(function), store->functions[store->last_function]))
		return store->last_function;
	const char *text = string_intern(&store->texts, string_or_empty(function));
	const uint64_t *number = hash_get(&store->function_numbers, (uintptr_t)text);

	if (number)
		return store->last_function = *number;
	hash_set(&store->function_numbers, (uintptr_t)text, store->function_count);
	ARRAY_GROW(store->functions, store->function_capacity, store->function_count);
	store->functions[store->function_count] = text;
	return store->last_function = store->function_count++;
}

static void end_piece(struct call_list *list)
{
	const size_t size = list->data.size - list->piece;

	if (!size)
		return;
	ARRAY_GROW(list->chunks, list->chunk_capacity, list->chunk_count);
	list->chunks[list->chunk_count++] = (struct call_chunk){.offset = list->piece, .size = size};
	list->piece = list->data.size;
}

static bool write_chunk(struct call_store *store, struct call_list *list)
{
	const size_t size = list->data.size;

	if (!write_all_at(store->fd, list->data.data, size, store->file_size))
		return false;
	end_piece(list);
	for (; list->written < list->chunk_count; list->written++)
		list->chunks[list->written].offset += store->file_size;
	list->piece = 0;
	store->file_size += size;
	store->in_memory -= list->data.capacity;
	buf_free(&list->data);
	return true;
}

/* Writes the lists that have CHUNK_MIN bytes or more to the temporary file. Raises store->limit if this does not free
 * enough memory, because the disk is full or there are very many short lists. */
static void call_store_make_room(struct call_store *store)
{
	if (!store->file_tried) {
		store->file_tried = true;
		store->fd = temporary_file();
	}
	for (struct call_list *list = store->lists; list && store->fd >= 0; list = list->next)
		if (list->data.size >= CHUNK_MIN && !write_chunk(store, list)) {
			store->limit = SIZE_MAX;
			return;
		}
	if (store->in_memory > store->limit / 2)
		store->limit *= 2;
}

void call_store_add(struct call_store *store, struct call_list *list, const struct record_call *call, uint64_t tag)
{
	const bool has_time = call->time_ns != TIME_NONE;
	struct buf *out = &list->data;
	const size_t before = out->capacity;

	call_store_put_number(out, (call->kind & 3u) << KIND_SHIFT | (has_time ? HAS_TIME : 0) |
					   (call->has_frames ? HAS_FRAMES : 0) | (call->context ? HAS_CONTEXT : 0) |
					   (call->arg_count ? HAS_ARGS : 0) | (tag ? HAS_TAG : 0));
	put_difference(out, call->index, list->last.index);
	list->last.index = call->index;
	if (has_time) {
		put_difference(out, call->time_ns, list->last.time_ns);
		list->last.time_ns = call->time_ns;
	}
	put_difference(out, call->id, list->last.id);
	list->last.id = call->id;
	call_store_put_number(out, call->size);
	call_store_put_number(out, call->resource);
	call_store_put_number(out, call_store_function_number(store, call->function));
	if (call->context)
		call_store_put_number(out, call->context);
	if (tag)
		call_store_put_number(out, tag);
	if (call->arg_count)
		call_store_put_number(out, call->arg_count);
	for (uint32_t i = 0; i < call->arg_count; i++) {
		const char *name = string_or_empty(call->args[i].name);
		const char *value = string_or_empty(call->args[i].value);

		buf_add(out, name, strlen(name) + 1);
		buf_add(out, value, strlen(value) + 1);
	}
	if (out->size - list->piece >= PIECE_SIZE)
		end_piece(list);
	store->in_memory += out->capacity - before;
	if (!store->limit)
		store->limit = MEMORY_LIMIT;
	if (store->in_memory > store->limit)
		call_store_make_room(store);
}

void call_store_free(struct call_store *store)
{
	while (store->lists) {
		struct call_list *list = store->lists;

		store->lists = list->next;
		buf_free(&list->data);
		free(list->chunks);
		free(list);
	}
	if (store->file_tried && store->fd >= 0)
		close(store->fd);
	hash_free(&store->function_numbers);
	free(store->functions);
	free(store->stacks);
	intern_pool_free(&store->texts);
}

void call_cursor_begin(struct call_cursor *cursor, const struct call_store *store, const struct call_list *list)
{
	*cursor = (struct call_cursor){.store = store, .list = list};
}

void call_cursor_end(struct call_cursor *cursor)
{
	buf_free(&cursor->bytes);
	free(cursor->args);
}

/* Reads the next piece; the last piece is the bytes that are still in memory. Return value as call_cursor_next(). */
static int next_chunk(struct call_cursor *cursor)
{
	const struct call_list *list = cursor->list;
	const size_t number = cursor->chunk++;

	if (number >= list->written) {
		cursor->p = list->data.data;
		cursor->end = cursor->p + list->data.size;
		return number == list->written && list->data.size;
	}
	const struct call_chunk *chunk = &list->chunks[number];

	cursor->bytes.size = 0;
	unsigned char *bytes = buf_room(&cursor->bytes, chunk->size);

	const int error = read_all_at(cursor->store->fd, bytes, chunk->size, chunk->offset);

	if (error) {
		msg_error("the temporary file of the calls cannot be read: %s", strerror(-error));
		return error;
	}
	cursor->p = bytes;
	cursor->end = bytes + chunk->size;
	return 1;
}

static const char *call_store_take_text(const unsigned char **p)
{
	const char *text = (const char *)*p;

	*p += strlen(text) + 1;
	return text;
}

static void call_store_take_args(struct call_cursor *cursor, struct record_call *call)
{
	call->arg_count = (uint32_t)call_store_take_number(&cursor->p);
	for (uint32_t i = 0; i < call->arg_count; i++) {
		ARRAY_GROW(cursor->args, cursor->arg_capacity, i);
		cursor->args[i].name = call_store_take_text(&cursor->p);
		cursor->args[i].value = call_store_take_text(&cursor->p);
	}
	call->args = cursor->args;
}

int call_cursor_next(struct call_cursor *cursor, struct record_call *call)
{
	struct call_base *last = &cursor->last;

	if (cursor->p == cursor->end) {
		const int status = next_chunk(cursor);

		if (status <= 0)
			return status;
	}
	const unsigned char **p = &cursor->p;
	const uint64_t flags = call_store_take_number(p);

	*call = (struct record_call){.kind = (enum call_kind)(flags >> KIND_SHIFT & 3),
				     .has_frames = flags & HAS_FRAMES,
				     .time_ns = TIME_NONE};
	call->index = last->index = take_difference(p, last->index);
	if (flags & HAS_TIME)
		call->time_ns = last->time_ns = take_difference(p, last->time_ns);
	call->id = last->id = take_difference(p, last->id);
	call->size = call_store_take_number(p);
	call->resource = (uint32_t)call_store_take_number(p);
	call->function = cursor->store->functions[call_store_take_number(p)];
	if (flags & HAS_CONTEXT)
		call->context = (uint32_t)call_store_take_number(p);
	cursor->tag = flags & HAS_TAG ? call_store_take_number(p) : 0;
	if (flags & HAS_ARGS)
		call_store_take_args(cursor, call);
	return 1;
}

int call_cursor_put(const struct call_cursor *cursor, const struct record_call *call, struct object_map *objects,
		    struct stage *next)
{
	struct record record = {.type = RECORD_CALL, .call = *call};
	const struct stack *stack = cursor->tag ? cursor->store->stacks[cursor->tag - 1] : NULL;
	int error = 0;

	if (stack) {
		stack_to_call(stack, &record.call);
		error = stack_put_objects(stack, objects, next);
	}
	return error ? error : stage_put(next, &record);
}
