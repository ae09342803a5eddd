#include "config.h"
#include "analysis/reorder.h"
#include "analysis/held.h"

#include <inttypes.h>
#include <stdlib.h>

struct reorder {
	struct stage stage;
	bool compressed;
	struct object_map objects;
	struct record_object *passed; /* objects handed on, each once; paths in `texts` */
	size_t passed_count, passed_capacity;
	struct text_pool texts;
	struct hash known; /* those objects as texts of the pool */
	struct hold hold;
	struct held_call **calls;
	size_t count, capacity;
};

static int put_call(struct reorder *reorder, const struct record *record)
{
	if (!reorder->compressed)
		return stage_put(reorder->stage.next, record);
	struct held_call *held = hold_call(&reorder->hold, &record->call);

	held->sequence = reorder->count;
	ARRAY_GROW(reorder->calls, reorder->capacity, reorder->count);
	reorder->calls[reorder->count++] = held;
	return 0;
}

/* Whether the object is handed on; false if it was before. */
static bool pass_object(struct reorder *reorder, const struct record_object *object)
{
	char *key = xasprintf("%" PRIx64 "-%" PRIx64 " %s", object->from, object->to, text_or_empty(object->path));
	const char *known = text_intern(&reorder->texts, key);

	free(key);
	if (!hash_set(&reorder->known, (uintptr_t)known, 1))
		return false;
	ARRAY_GROW(reorder->passed, reorder->passed_capacity, reorder->passed_count);
	reorder->passed[reorder->passed_count++] = (struct record_object){
		object->from, object->to, text_intern(&reorder->texts, text_or_empty(object->path))};
	return true;
}

static int put(struct stage *stage, const struct record *record)
{
	struct reorder *reorder = (struct reorder *)stage;

	if (record->type == RECORD_CALL)
		return put_call(reorder, record);
	if (record->type == RECORD_PROCESS)
		reorder->compressed = record->process.filters & FILTER_COMPRESS;
	else if (record->type == RECORD_OBJECT && reorder->compressed) {
		/* One that is declared again for a group will be so for its calls. */
		object_map_put(&reorder->objects, &record->object);
		if (!pass_object(reorder, &record->object))
			return 0;
	} else if (record->type == RECORD_BUILD_ID && reorder->compressed)
		object_map_set_build_id(&reorder->objects, &record->build_id);
	return stage_put(stage->next, record);
}

static int compare_calls(const void *a, const void *b)
{
	const struct held_call *x = *(struct held_call *const *)a,
			       *y = *(struct held_call *const *)b;

	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

static int finish(struct stage *stage)
{
	struct reorder *reorder = (struct reorder *)stage;
	int error = 0;

	/* From here on the map is what the next stage knows. */
	for (size_t i = 0; i < reorder->passed_count; i++)
		object_map_put(&reorder->objects, &reorder->passed[i]);
	if (reorder->count)
		qsort(reorder->calls, reorder->count, sizeof(*reorder->calls), compare_calls);
	for (size_t i = 0; i < reorder->count && !error; i++) {
		const struct held_call *call = reorder->calls[i];
		struct record record;

		if (call->stack)
			error = stack_put_objects(call->stack, &reorder->objects, stage->next);
		held_to_record(call, &record);
		if (!error)
			error = stage_put(stage->next, &record);
	}
	return error ? error : stage_finish_next(stage);
}

static void reorder_free(struct stage *stage)
{
	struct reorder *reorder = (struct reorder *)stage;

	free(reorder->calls);
	free(reorder->passed);
	hash_free(&reorder->known);
	text_pool_free(&reorder->texts);
	hold_free(&reorder->hold);
	object_map_free(&reorder->objects);
	free(reorder);
}

struct stage *reorder_new(struct stage *next)
{
	struct reorder *reorder = xmalloc(sizeof(*reorder));

	*reorder = (struct reorder){
		.stage = {.put = put, .finish = finish, .free = reorder_free, .next = next}};
	reorder->hold.stacks.objects = &reorder->objects;
	return &reorder->stage;
}
