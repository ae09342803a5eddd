#include "config.h"
#include "analysis/leaks/call_groups.h"
#include "analysis/leaks/call_store.h"
#include "analysis/record_queue.h"
#include "analysis/resource_words.h"
#include "analysis/tally.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct call_group {
	const struct stack *stack;
	struct call_list *calls;
	/* the resource of all calls; NULL if the calls have different resources */
	const struct resource_state *resource;
	struct tally tally;
	uint64_t number; /* number of the group, in the order of the groups' first calls */
};

struct call_groups {
	struct stage stage;
	enum group_order order;
	struct resources resources;
	struct object_map objects;
	struct stack_pool stacks;
	struct call_store store;
	struct record_queue scans; /* passed on after the calls */
	struct call_group **items;
	size_t count, capacity;
};

/* The orders: their names, the compared figure, and whether the greatest comes first. */
static const struct {
	const char *name;
	bool by_calls, is_descending;
} orders[] = {
	[GROUPS_DEFAULT] = {"", false, false},           [GROUPS_SIZE] = {"size", false, true},
	[GROUPS_SIZE_ASC] = {"size-asc", false, false},  [GROUPS_COUNT] = {"count", true, true},
	[GROUPS_COUNT_ASC] = {"count-asc", true, false},
};

bool group_order_parse(const char *text, enum group_order *order)
{
	for (size_t i = GROUPS_SIZE; i < ARRAY_SIZE(orders); i++)
		if (!strcmp(text, orders[i].name)) {
			*order = (enum group_order)i;
			return true;
		}
	return false;
}

static struct call_group *call_groups_group_of(struct call_groups *groups, const struct record_call *call)
{
	const struct record_call none = {0};
	struct stack *stack = stack_intern(&groups->stacks, call->has_frames ? call : &none);

	if (!stack->user) {
		struct call_group *group = xmalloc(sizeof(*group));

		*group = (struct call_group){
			.stack = stack, .calls = call_store_list(&groups->store), .number = groups->count};
		ARRAY_GROW(groups->items, groups->capacity, groups->count);
		groups->items[groups->count++] = group;
		stack->user = group;
	}
	return stack->user;
}

static int call_groups_put_call(struct call_groups *groups, const struct record_call *call)
{
	struct call_group *group = call_groups_group_of(groups, call);
	const struct resource_state *resource = resources_of(&groups->resources, call->resource);

	group->resource = !group->tally.calls || group->resource == resource ? resource : NULL;
	call_store_add(&groups->store, group->calls, call, 0);
	tally_add(&group->tally, call->size);
	return 0;
}

static int call_groups_put(struct stage *stage, const struct record *record)
{
	struct call_groups *groups = (struct call_groups *)stage;

	object_map_note(&groups->objects, record);
	switch (record->type) {
	case RECORD_CALL:
		return call_groups_put_call(groups, &record->call);
	case RECORD_SCAN:
	case RECORD_LOST:
		record_queue_add(&groups->scans, 0, record);
		return 0;
	case RECORD_THREAD:
		return 0;
	case RECORD_RESOURCE:
		resources_declare(&groups->resources, &record->resource);
		break;
	case RECORD_PROCESS: {
		struct record changed = *record;

		changed.process.filters |= FILTER_COMPRESS;
		return stage_put(stage->next, &changed);
	}
	default:
		break;
	}
	return stage_put(stage->next, record);
}

static int call_groups_compare(const void *a, const void *b, void *context)
{
	const struct call_group *x = *(struct call_group *const *)a, *y = *(struct call_group *const *)b;
	const enum group_order order = *(const enum group_order *)context;
	const int ascending = orders[order].by_calls ? compare_u64(x->tally.calls, y->tally.calls)
						     : compare_u64(x->tally.bytes, y->tally.bytes);

	return (orders[order].is_descending ? -ascending : ascending) ?: compare_u64(x->number, y->number);
}

static int call_groups_put_calls(struct call_groups *groups, const struct call_group *group, const char *summary)
{
	struct record record = {.type = RECORD_CALL};
	struct call_cursor cursor;
	uint64_t left = group->tally.calls;
	int status;

	call_cursor_begin(&cursor, &groups->store, group->calls);
	while ((status = call_cursor_next(&cursor, &record.call)) == 1) {
		if (record.call.has_frames)
			stack_to_call(group->stack, &record.call);
		if (--left)
			record.call.shares_next = true;
		else
			record.call.summary = summary;
		status = stage_put(groups->stage.next, &record);
		if (status)
			break;
	}
	call_cursor_end(&cursor);
	return status;
}

static int put_group(struct call_groups *groups, const struct call_group *group)
{
	struct buf summary = {0};
	int error = stack_put_objects(group->stack, &groups->objects, groups->stage.next);

	buf_add_str(&summary, "# allocation summary: ");
	words_count(&summary, group->resource, group->tally.calls);
	if (words_have_size(group->resource, group->tally.bytes))
		buf_printf(&summary, " with total size %" PRIu64, group->tally.bytes);
	if (!error)
		error = call_groups_put_calls(groups, group, buf_str(&summary));
	buf_free(&summary);
	return error;
}

static int call_groups_finish(struct stage *stage)
{
	struct call_groups *groups = (struct call_groups *)stage;
	int error = 0;

	if (groups->count)
		qsort_r(groups->items, groups->count, sizeof(struct call_group *), call_groups_compare, &groups->order);
	for (size_t i = 0; i < groups->count && !error; i++)
		error = put_group(groups, groups->items[i]);
	if (!error)
		error = record_queue_put(&groups->scans, UINT64_MAX, stage->next);
	return error ? error : stage_finish_next(stage);
}

static void call_groups_free(struct stage *stage)
{
	struct call_groups *groups = (struct call_groups *)stage;

	for (size_t i = 0; i < groups->count; i++)
		free(groups->items[i]);
	free(groups->items);
	call_store_free(&groups->store);
	record_queue_free(&groups->scans);
	stack_pool_free(&groups->stacks);
	object_map_free(&groups->objects);
	resources_free(&groups->resources);
	free(groups);
}

struct stage *call_groups_new(struct stage *next, enum group_order order)
{
	struct call_groups *groups = xmalloc(sizeof(*groups));

	*groups = (struct call_groups){
		.stage = {.put = call_groups_put, .finish = call_groups_finish, .free = call_groups_free, .next = next},
		.order = order,
	};
	groups->stacks.objects = &groups->objects;
	return &groups->stage;
}
