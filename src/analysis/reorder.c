#include "config.h"
#include "analysis/reorder.h"
#include "analysis/held.h"

#include <stdlib.h>

struct reorder {
	struct stage stage;
	bool compressed;
	bool object_passed; /* the last one, so that its build-id is too */
	struct object_map objects;
	struct object_map known;      /* of the objects that were handed on */
	struct record_object *passed; /* those; their paths are the map's */
	size_t passed_count, passed_capacity;
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

/* Whether the object is handed on at once: where nothing was before. Others are declared again with the calls that go
 * through them, as in the input they are with their groups; that they are so in both places is what makes a text
 * longer each time. */
static bool pass_object(struct reorder *reorder, const struct record_object *object)
{
	object_map_put(&reorder->objects, object);
	if (object_map_check(&reorder->known, object) != OBJECT_NEW)
		return false;
	object_map_put(&reorder->known, object);
	ARRAY_GROW(reorder->passed, reorder->passed_capacity, reorder->passed_count);
	reorder->passed[reorder->passed_count++] = (struct record_object){
		object->from, object->to, object_map_find(&reorder->known, object->from)->path};
	return true;
}

static int put(struct stage *stage, const struct record *record)
{
	struct reorder *reorder = (struct reorder *)stage;

	if (record->type == RECORD_CALL)
		return put_call(reorder, record);
	if (record->type == RECORD_PROCESS)
		reorder->compressed = record->process.filters & FILTER_COMPRESS;
	if (reorder->compressed && record->type == RECORD_OBJECT)
		reorder->object_passed = pass_object(reorder, &record->object);
	if (reorder->compressed && record->type == RECORD_BUILD_ID)
		object_map_set_build_id(&reorder->objects, &record->build_id);
	if (reorder->compressed && !reorder->object_passed &&
	    (record->type == RECORD_OBJECT || record->type == RECORD_BUILD_ID))
		return 0;
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
	object_map_free(&reorder->known);
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
