#include "config.h"
#include "analysis/leaks/min_count.h"
#include "analysis/call_pool.h"
#include "analysis/record_queue.h"
#include "analysis/resource_words.h"
#include "analysis/resources.h"

#include <inttypes.h>
#include <stdlib.h>

/* The calls of one function and kind of resource with the same stack, as a report groups them. */
struct counted_group {
	const char *function; /* a string of the pool */
	uint32_t resource;
	uint64_t calls;
	struct counted_group *next; /* another group with the same stack */
};

struct small_groups {
	struct stage stage;
	uint64_t least;
	struct call_pool pool; /* stack->user points to the first struct counted_group of the stack */
	struct object_map objects;
	struct record_queue scans;  /* passed on after the calls */
	struct resources resources; /* user: a struct tally of the calls that are not passed on */
	struct hash left_out;       /* hashes of resource and id of the calls that are not passed on */
	struct held_call *first, **end;
	struct counted_group *stackless; /* the groups of calls without a stack */
	struct counted_group **groups;   /* all groups */
	size_t group_count, group_capacity;
};

/* Returns the group of a call. Makes the group at its first call. */
static struct counted_group *counted_group_of(struct small_groups *small, const struct held_call *call)
{
	struct counted_group *const first = call->stack ? call->stack->user : small->stackless;
	struct counted_group *group = first;

	while (group && (group->function != call->function || group->resource != call->resource))
		group = group->next;
	if (group)
		return group;
	group = xmalloc(sizeof(*group));
	*group = (struct counted_group){.function = call->function, .resource = call->resource, .next = first};
	if (call->stack)
		call->stack->user = group;
	else
		small->stackless = group;
	ARRAY_GROW(small->groups, small->group_capacity, small->group_count);
	return small->groups[small->group_count++] = group;
}

static int min_count_put(struct stage *stage, const struct record *record)
{
	struct small_groups *small = (struct small_groups *)stage;

	if (record->type == RECORD_THREAD) {
		call_pool_thread(&small->pool, &record->thread);
		return 0;
	}
	if (record->type == RECORD_CALL) {
		struct held_call *const call = call_pool_call(&small->pool, &record->call);

		call->next = NULL;
		*small->end = call;
		small->end = &call->next;
		counted_group_of(small, call)->calls++;
		return 0;
	}
	if (record->type == RECORD_SCAN || record->type == RECORD_LOST) {
		record_queue_add(&small->scans, 0, record);
		return 0;
	}
	object_map_note(&small->objects, record);
	if (record->type == RECORD_RESOURCE)
		resources_declare(&small->resources, &record->resource);
	return stage_put(stage->next, record);
}

static void min_count_leave_out(struct small_groups *small, const struct held_call *call)
{
	struct resource_state *resource = resources_of(&small->resources, call->resource);

	if (!resource->user)
		resource->user = xcalloc(1, sizeof(struct tally));
	tally_add(resource->user, call->size);
	hash_set(&small->left_out, hash_mix(call->resource) ^ call->id, 1);
}

void min_count_not_shown(const struct stage *stage, struct buf *out)
{
	const struct small_groups *small = (const struct small_groups *)stage;
	char *const words =
		xasprintf("in stacks, compared by address, of fewer than %" PRIu64 " allocations", small->least);

	for (size_t i = 0; i < small->resources.count; i++) {
		const struct resource_state *resource = small->resources.items[i];

		if (resource->user)
			words_not_shown(out, resource, resource->user, words);
	}
	free(words);
}

/* Passes on the scans, without lost records about calls that were not passed on. */
static int min_count_put_scans(struct small_groups *small)
{
	const struct record *record;
	int error = 0;

	while (!error && (record = record_queue_take(&small->scans, UINT64_MAX, &error)))
		if (record->type != RECORD_LOST ||
		    !hash_get(&small->left_out, hash_mix(record->lost.resource) ^ record->lost.id))
			error = stage_put(small->stage.next, record);
	return error;
}

static int min_count_finish(struct stage *stage)
{
	struct small_groups *small = (struct small_groups *)stage;
	int error = 0;

	for (const struct held_call *call = small->first; call && !error; call = call->next) {
		if (counted_group_of(small, call)->calls < small->least) {
			min_count_leave_out(small, call);
			continue;
		}
		if (call->stack)
			error = stack_put_objects(call->stack, &small->objects, stage->next);
		if (!error)
			error = call_pool_put(&small->pool, call, stage->next);
	}
	if (!error)
		error = min_count_put_scans(small);
	return error ? error : stage_finish_next(stage);
}

static void small_groups_free(struct stage *stage)
{
	struct small_groups *small = (struct small_groups *)stage;

	for (struct held_call *call = small->first, *next; call; call = next) {
		next = call->next;
		call_pool_release(&small->pool, call);
	}
	for (size_t i = 0; i < small->group_count; i++)
		free(small->groups[i]);
	free(small->groups);
	hash_free(&small->left_out);
	resources_free(&small->resources);
	record_queue_free(&small->scans);
	call_pool_free(&small->pool);
	object_map_free(&small->objects);
	free(small);
}

struct stage *min_count_new(struct stage *next, uint64_t least)
{
	struct small_groups *small = xmalloc(sizeof(*small));

	*small = (struct small_groups){
		.stage = {.put = min_count_put, .finish = min_count_finish, .free = small_groups_free, .next = next},
		.least = least};
	small->pool.stacks.objects = &small->objects;
	small->end = &small->first;
	return &small->stage;
}
