#include "config.h"
#include "analysis/leaks/compress.h"
#include "analysis/leaks/call_store.h"
#include "analysis/leaks/deferred_scans.h"
#include "analysis/resource_words.h"
#include "base/msg.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct compress_group {
	const struct stack *stack;
	struct call_list *calls;
	const struct resource_state *resource; /* of its calls; NULL if they have several */
	uint64_t count, size;
	uint64_t number; /* in the order of the groups' first calls */
};

struct compress {
	struct stage stage;
	enum group_order order;
	struct resources resources;
	struct object_map objects;
	struct stack_pool stacks;
	struct call_store store;
	struct deferred_scans scans;
	struct compress_group **groups;
	size_t count, capacity;
};

static const char *const order_names[] = {
	[GROUPS_SIZE] = "size",
	[GROUPS_SIZE_ASC] = "size-asc",
	[GROUPS_COUNT] = "count",
	[GROUPS_COUNT_ASC] = "count-asc",
};

bool group_order_parse(const char *text, enum group_order *order)
{
	for (size_t i = GROUPS_SIZE; i < ARRAY_SIZE(order_names); i++)
		if (!strcmp(text, order_names[i])) {
			*order = (enum group_order)i;
			return true;
		}
	return false;
}

static struct compress_group *compress_group_of(struct compress *compress, const struct record_call *call)
{
	const struct record_call none = {0};
	struct stack *stack = stack_intern(&compress->stacks, call->has_frames ? call : &none);

	if (!stack->user) {
		struct compress_group *group = xmalloc(sizeof(*group));

		*group = (struct compress_group){
			.stack = stack, .calls = call_store_list(&compress->store), .number = compress->count};
		ARRAY_GROW(compress->groups, compress->capacity, compress->count);
		compress->groups[compress->count++] = group;
		stack->user = group;
	}
	return stack->user;
}

static int compress_put_call(struct compress *compress, const struct record_call *call)
{
	struct compress_group *group = compress_group_of(compress, call);
	const struct resource_state *resource = resources_of(&compress->resources, call->resource);

	group->resource = !group->count || group->resource == resource ? resource : NULL;
	call_store_add(&compress->store, group->calls, call, 0);
	group->count++;
	group->size = add_saturated(group->size, call->size);
	return 0;
}

static int compress_put(struct stage *stage, const struct record *record)
{
	struct compress *compress = (struct compress *)stage;

	if (deferred_scans_keep(&compress->scans, record))
		return 0;
	switch (record->type) {
	case RECORD_CALL:
		return compress_put_call(compress, &record->call);
	case RECORD_THREAD:
		return 0;
	case RECORD_RESOURCE:
		resources_declare(&compress->resources, &record->resource);
		break;
	case RECORD_OBJECT:
		object_map_put(&compress->objects, &record->object);
		break;
	case RECORD_BUILD_ID:
		object_map_set_build_id(&compress->objects, &record->build_id);
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

static int compress_compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compress_compare_groups(const void *a, const void *b, void *context)
{
	const struct compress_group *x = *(struct compress_group *const *)a, *y = *(struct compress_group *const *)b;
	int result = 0;

	switch (*(const enum group_order *)context) {
	case GROUPS_DEFAULT:
	case GROUPS_SIZE_ASC:
		result = compress_compare_numbers(x->size, y->size);
		break;
	case GROUPS_SIZE:
		result = compress_compare_numbers(y->size, x->size);
		break;
	case GROUPS_COUNT_ASC:
		result = compress_compare_numbers(x->count, y->count);
		break;
	case GROUPS_COUNT:
		result = compress_compare_numbers(y->count, x->count);
		break;
	}
	return result ? result : compress_compare_numbers(x->number, y->number);
}

static int compress_put_calls(struct compress *compress, const struct compress_group *group, const char *summary)
{
	struct record record = {.type = RECORD_CALL};
	struct call_cursor cursor;
	uint64_t left = group->count;
	int status;

	call_cursor_begin(&cursor, &compress->store, group->calls);
	while ((status = call_cursor_next(&cursor, &record.call)) == 1) {
		if (record.call.has_frames)
			stack_to_call(group->stack, &record.call);
		if (--left)
			record.call.shares_next = true;
		else
			record.call.summary = summary;
		status = stage_put(compress->stage.next, &record);
		if (status)
			break;
	}
	if (cursor.failed)
		msg_error("the temporary file of the groups cannot be read: %s", strerror(-status));
	call_cursor_end(&cursor);
	return status;
}

static int put_group(struct compress *compress, const struct compress_group *group)
{
	struct buf summary = {0};
	int error = stack_put_objects(group->stack, &compress->objects, compress->stage.next);

	buf_add_str(&summary, "# allocation summary: ");
	words_count(&summary, group->resource, group->count);
	if (words_have_size(group->resource, group->size))
		buf_printf(&summary, " with total size %" PRIu64, group->size);
	if (!error)
		error = compress_put_calls(compress, group, buf_str(&summary));
	buf_free(&summary);
	return error;
}

static int compress_finish(struct stage *stage)
{
	struct compress *compress = (struct compress *)stage;
	int error = 0;

	if (compress->count)
		qsort_r(compress->groups, compress->count, sizeof(struct compress_group *), compress_compare_groups,
			&compress->order);
	for (size_t i = 0; i < compress->count && !error; i++)
		error = put_group(compress, compress->groups[i]);
	if (!error)
		error = deferred_scans_put(&compress->scans, stage->next);
	return error ? error : stage_finish_next(stage);
}

static void compress_free(struct stage *stage)
{
	struct compress *compress = (struct compress *)stage;

	for (size_t i = 0; i < compress->count; i++)
		free(compress->groups[i]);
	free(compress->groups);
	call_store_free(&compress->store);
	deferred_scans_free(&compress->scans);
	stack_pool_free(&compress->stacks);
	object_map_free(&compress->objects);
	resources_free(&compress->resources);
	free(compress);
}

struct stage *compress_new(struct stage *next, enum group_order order)
{
	struct compress *compress = xmalloc(sizeof(*compress));

	*compress = (struct compress){
		.stage = {.put = compress_put, .finish = compress_finish, .free = compress_free, .next = next},
		.order = order,
	};
	compress->stacks.objects = &compress->objects;
	return &compress->stage;
}
