/* Sorts calls by external merge sort: batches of RUN_MAX calls are sorted in memory and stored as runs in a call_store;
 * at the end the runs are merged. Memory contains one batch, a piece of each run, and the stacks. */
#include "config.h"
#include "analysis/leaks/reorder.h"
#include "analysis/leaks/call_store.h"
#include "analysis/call_pool.h"
#include "analysis/record_queue.h"

#include <stdlib.h>

enum { RUN_MAX = 1 << 15, PREFETCHED = 8 };

struct reorder_entry {
	struct held_call *call;
	uint64_t index;
	uint32_t place; /* position in the batch */
	uint32_t stack; /* number of the call's stack in the store; 0 if it has none */
};

struct reorder_run {
	struct call_cursor cursor;
	struct record_call call; /* the next call of the run */
};

struct reorder {
	struct stage stage;
	bool holding;
	bool object_passed; /* the last object was passed on, so its build-id is also passed on */
	struct object_map objects;
	struct object_map known;      /* the objects that were passed on */
	struct record_object *passed; /* list of these objects; `known` owns their paths */
	size_t passed_count, passed_capacity;
	struct call_pool pool;
	struct reorder_entry *entries; /* the current batch of calls */
	size_t count, capacity;
	struct call_store store;
	struct record_queue scans; /* passed on after the calls */
	struct call_list **lists;  /* the sorted runs */
	size_t list_count, list_capacity;
	uint32_t shared; /* number of the stack that the next call without shares_next will have; 0: none */
};

static int compare_entries(const void *a, const void *b)
{
	const struct reorder_entry *x = a, *y = b;

	return compare_u64(x->index, y->index) ?: compare_u64(x->place, y->place);
}

static void sort_entries(struct reorder *reorder)
{
	size_t i = 1;

	while (i < reorder->count && reorder->entries[i - 1].index <= reorder->entries[i].index)
		i++;
	if (i < reorder->count)
		qsort(reorder->entries, reorder->count, sizeof(struct reorder_entry), compare_entries);
}

static void end_run(struct reorder *reorder)
{
	struct call_list *list = call_store_list(&reorder->store);

	sort_entries(reorder);
	for (size_t i = 0; i < reorder->count; i++) {
		const struct reorder_entry *entry = &reorder->entries[i];
		struct record record;

		/* The sorted order differs from the order in memory, so the calls that will be needed soon are
		 * prefetched. */
		if (i + PREFETCHED < reorder->count) {
			const char *soon = (const char *)entry[PREFETCHED].call;

			__builtin_prefetch(soon);
			__builtin_prefetch(soon + 64);
		}
		held_to_record(entry->call, &record);
		call_store_add(&reorder->store, list, &record.call, entry->stack);
		call_pool_release(&reorder->pool, entry->call);
	}
	reorder->count = 0;
	ARRAY_GROW(reorder->lists, reorder->list_capacity, reorder->list_count);
	reorder->lists[reorder->list_count++] = list;
}

/* Returns the number of a call's stack. A call with shares_next lacks its stack; the stack is stored later, when the
 * next call without shares_next is read. */
static uint32_t reorder_take_stack(struct reorder *reorder, const struct held_call *call, bool shares_next)
{
	if (shares_next) {
		if (!reorder->shared)
			reorder->shared = call_store_add_stack(&reorder->store, NULL);
		return reorder->shared;
	}
	if (reorder->shared)
		reorder->store.stacks[reorder->shared - 1] = call->stack;
	reorder->shared = 0;
	return call_store_stack(&reorder->store, call->stack);
}

static int reorder_put_call(struct reorder *reorder, const struct record *record)
{
	const struct record_call *call = &record->call;

	reorder->holding |= call->shares_next;
	if (!reorder->holding)
		return stage_put(reorder->stage.next, record);
	struct held_call *held = call_pool_call(&reorder->pool, call);

	ARRAY_GROW(reorder->entries, reorder->capacity, reorder->count);
	reorder->entries[reorder->count] =
		(struct reorder_entry){.call = held,
				       .index = call->index,
				       .place = (uint32_t)reorder->count,
				       .stack = reorder_take_stack(reorder, held, call->shares_next)};
	if (++reorder->count == RUN_MAX)
		end_run(reorder);
	return 0;
}

/* Returns true if the object is to be passed on at once: if no calls are held back, or if the object overlaps no object
 * in reorder->known. Any other object is declared later, right before the calls that go through it, as in the input. If
 * it were declared in both places, a text trace would become longer each time that it is processed. */
static bool pass_object(struct reorder *reorder, const struct record_object *object)
{
	if (!reorder->holding)
		return true;
	if (object_map_check(&reorder->known, object) != OBJECT_NEW)
		return false;
	object_map_put(&reorder->known, object);
	ARRAY_GROW(reorder->passed, reorder->passed_capacity, reorder->passed_count);
	reorder->passed[reorder->passed_count++] =
		(struct record_object){object->from, object->to, object_map_find(&reorder->known, object->from)->path};
	return true;
}

static int reorder_put(struct stage *stage, const struct record *record)
{
	struct reorder *reorder = (struct reorder *)stage;

	if (record->type == RECORD_CALL)
		return reorder_put_call(reorder, record);
	if (record->type == RECORD_PROCESS)
		reorder->holding = record->process.filters & FILTER_COMPRESS;
	if (reorder->holding && (record->type == RECORD_SCAN || record->type == RECORD_LOST)) {
		record_queue_add(&reorder->scans, 0, record);
		return 0;
	}
	object_map_note(&reorder->objects, record);
	if (record->type == RECORD_OBJECT)
		reorder->object_passed = pass_object(reorder, &record->object);
	if (!reorder->object_passed && (record->type == RECORD_OBJECT || record->type == RECORD_BUILD_ID))
		return 0;
	return stage_put(stage->next, record);
}

/* Returns true if the next call of run `a` is to be passed on before that of run `b`. If their indexes are equal, the
 * call in the earlier run was read first. */
static bool is_before(const struct reorder_run *runs, size_t a, size_t b)
{
	const uint64_t x = runs[a].call.index, y = runs[b].call.index;

	return x != y ? x < y : a < b;
}

/* Restores the order of a priority queue (a binary heap) of runs from `place` down. The first run in the queue has the
 * call that is to be passed on next. */
static void sift_down(const struct reorder_run *runs, size_t *heap, size_t count, size_t place)
{
	for (;;) {
		size_t least = place;

		for (size_t child = 2 * place + 1; child <= 2 * place + 2 && child < count; child++)
			if (is_before(runs, heap[child], heap[least]))
				least = child;
		if (least == place)
			return;
		const size_t other = heap[place];

		heap[place] = heap[least];
		heap[least] = other;
		place = least;
	}
}

static int reorder_merge(struct reorder *reorder, struct reorder_run *runs, size_t *heap)
{
	size_t count = reorder->list_count;
	int status = 1;

	/* Each run has at least one call. */
	for (size_t i = 0; i < count && status > 0; i++) {
		heap[i] = i;
		call_cursor_begin(&runs[i].cursor, &reorder->store, reorder->lists[i]);
		status = call_cursor_next(&runs[i].cursor, &runs[i].call);
	}
	for (size_t i = count / 2; i-- > 0 && status > 0;)
		sift_down(runs, heap, count, i);
	while (count && status >= 0) {
		struct reorder_run *const run = &runs[heap[0]];
		const int error = call_cursor_put(&run->cursor, &run->call, &reorder->objects, reorder->stage.next);

		if (error)
			return error;
		status = call_cursor_next(&run->cursor, &run->call);
		if (!status)
			heap[0] = heap[--count];
		sift_down(runs, heap, count, 0);
	}
	return status < 0 ? status : 0;
}

static int reorder_finish(struct stage *stage)
{
	struct reorder *reorder = (struct reorder *)stage;

	/* From here on, `objects` contains the objects that the next stage has got. */
	for (size_t i = 0; i < reorder->passed_count; i++)
		object_map_put(&reorder->objects, &reorder->passed[i]);
	if (reorder->count)
		end_run(reorder);
	struct reorder_run *runs = xcalloc(reorder->list_count, sizeof(*runs));
	size_t *heap = xcalloc(reorder->list_count, sizeof(*heap));
	int error = reorder_merge(reorder, runs, heap);

	if (!error)
		error = record_queue_put(&reorder->scans, UINT64_MAX, stage->next);

	for (size_t i = 0; i < reorder->list_count; i++)
		call_cursor_end(&runs[i].cursor);
	free(runs);
	free(heap);
	return error ? error : stage_finish_next(stage);
}

static void reorder_free(struct stage *stage)
{
	struct reorder *reorder = (struct reorder *)stage;

	free(reorder->entries);
	free(reorder->lists);
	call_store_free(&reorder->store);
	record_queue_free(&reorder->scans);
	free(reorder->passed);
	object_map_free(&reorder->known);
	call_pool_free(&reorder->pool);
	object_map_free(&reorder->objects);
	free(reorder);
}

struct stage *reorder_new(struct stage *next)
{
	struct reorder *reorder = xmalloc(sizeof(*reorder));

	*reorder = (struct reorder){
		.stage = {.put = reorder_put, .finish = reorder_finish, .free = reorder_free, .next = next}};
	reorder->pool.stacks.objects = &reorder->objects;
	return &reorder->stage;
}
