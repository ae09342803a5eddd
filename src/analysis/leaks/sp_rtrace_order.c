#include "config.h"
#include "analysis/leaks/sp_rtrace_order.h"
#include "analysis/leaks/call_store.h"
#include "analysis/record_queue.h"
#include "base/msg.h"

#include <stdlib.h>
#include <string.h>

/* A copy of a declaration or another record. */
struct line {
	struct line *next;
	struct record record;
	char *first, *second; /* the strings of the record */
};

struct sp_rtrace_order_lines {
	struct line *first, **end;
};

enum kind { ATTACHMENTS, HEAPS, MODULES, CONTEXTS, RESOURCES, OBJECTS, KINDS };

struct sp_rtrace_order_layout {
	struct stage stage;
	struct layout_options options;
	bool asked, holding;
	struct sp_rtrace_order_lines declared[KINDS];
	/* comments, scans and lost blocks; the sequence of each is the number of calls before it */
	struct record_queue comments;
	struct object_map objects;
	struct stack_pool stacks;
	/* all stacks; stack->user is the index of the stack here + 1, as a pointer */
	struct stack **stack_list;
	size_t stack_capacity;
	struct call_store store;
	struct call_list *calls;
	uint64_t call_count;
};

static void copy_strings(struct line *line, const char **first, const char **second)
{
	line->first = xstrdup(string_or_empty(*first));
	*first = line->first;
	if (!second)
		return;
	line->second = xstrdup(string_or_empty(*second));
	*second = line->second;
}

static void sp_rtrace_order_add_line(struct sp_rtrace_order_lines *lines, const struct record *record)
{
	struct line *line = xcalloc(1, sizeof(*line));

	line->record = *record;
	switch (record->type) {
	case RECORD_ATTACHMENT:
		copy_strings(line, &line->record.attachment.name, &line->record.attachment.path);
		break;
	case RECORD_MODULE:
		copy_strings(line, &line->record.module.name, NULL);
		break;
	case RECORD_CONTEXT:
		copy_strings(line, &line->record.context.name, NULL);
		break;
	case RECORD_RESOURCE:
		copy_strings(line, &line->record.resource.type, &line->record.resource.desc);
		break;
	case RECORD_OBJECT:
		copy_strings(line, &line->record.object.path, NULL);
		break;
	case RECORD_BUILD_ID:
		copy_strings(line, &line->record.build_id.hex, NULL);
		break;
	default:
		break;
	}
	if (!lines->first)
		lines->end = &lines->first;
	*lines->end = line;
	lines->end = &line->next;
}

static void drop_first(struct sp_rtrace_order_lines *lines)
{
	struct line *line = lines->first;

	lines->first = line->next;
	free(line->first);
	free(line->second);
	free(line);
}

static int sp_rtrace_order_put_lines(struct sp_rtrace_order_layout *layout, struct sp_rtrace_order_lines *lines)
{
	int error = 0;

	while (lines->first && !error) {
		error = stage_put(layout->stage.next, &lines->first->record);
		drop_first(lines);
	}
	return error;
}

/* Passes on the comments that have at most `calls` calls before them. */
static int put_comments(struct sp_rtrace_order_layout *layout, uint64_t calls)
{
	const struct queued_record *queued;
	const char *text;
	int error = 0;

	while (!error && (queued = record_queue_first(&layout->comments, &text, &error)) && queued->sequence <= calls) {
		const struct record record = queued_record_unpack(queued, text);

		error = stage_put(layout->stage.next, &record);
		record_queue_drop(&layout->comments);
	}
	return error;
}

static int put_declared(struct sp_rtrace_order_layout *layout)
{
	int error = 0;

	for (size_t kind = 0; kind < KINDS && !error; kind++)
		error = sp_rtrace_order_put_lines(layout, &layout->declared[kind]);
	return error;
}

static void sp_rtrace_order_pool_call(struct sp_rtrace_order_layout *layout, const struct record_call *call)
{
	struct stack *stack = call->has_frames ? stack_intern(&layout->stacks, call) : NULL;

	if (stack && !stack->user) {
		const size_t number = layout->stacks.count - 1;

		ARRAY_GROW(layout->stack_list, layout->stack_capacity, number);
		layout->stack_list[number] = stack;
		stack->user = (void *)(uintptr_t)(number + 1);
	}
	if (!layout->calls)
		layout->calls = call_store_list(&layout->store);
	call_store_add(&layout->store, layout->calls, call, stack ? (uintptr_t)stack->user : 0);
	layout->call_count++;
}

static int put_held(struct sp_rtrace_order_layout *layout)
{
	struct record record = {.type = RECORD_CALL};
	struct call_cursor cursor;
	uint64_t count = 0;
	int status, error = 0;

	call_cursor_begin(&cursor, &layout->store, layout->calls);
	while (!error && (status = call_cursor_next(&cursor, &record.call)) == 1) {
		error = put_comments(layout, count++);
		if (!error && cursor.tag) {
			const struct stack *stack = layout->stack_list[cursor.tag - 1];

			stack_to_call(stack, &record.call);
			error = stack_put_objects(stack, &layout->objects, layout->stage.next);
		}
		if (!error)
			error = stage_put(layout->stage.next, &record);
	}
	if (cursor.failed) {
		error = status;
		msg_error("the temporary file of the calls cannot be read: %s", strerror(-status));
	}
	call_cursor_end(&cursor);
	return error;
}

/* Passes on all records that were held back. Later records are not held back. */
static int sp_rtrace_order_let_go(struct sp_rtrace_order_layout *layout)
{
	int error = put_declared(layout);

	layout->holding = false;
	if (!error && layout->calls)
		error = put_held(layout);
	return error ? error : put_comments(layout, UINT64_MAX);
}

static int take_held(struct sp_rtrace_order_layout *layout, const struct record *record)
{
	switch (record->type) {
	case RECORD_PROCESS:
		return stage_put(layout->stage.next, record);
	case RECORD_ATTACHMENT:
		sp_rtrace_order_add_line(&layout->declared[ATTACHMENTS], record);
		break;
	case RECORD_HEAP:
		sp_rtrace_order_add_line(&layout->declared[HEAPS], record);
		break;
	case RECORD_MODULE:
		sp_rtrace_order_add_line(&layout->declared[MODULES], record);
		break;
	case RECORD_CONTEXT:
		sp_rtrace_order_add_line(&layout->declared[CONTEXTS], record);
		break;
	case RECORD_RESOURCE:
		sp_rtrace_order_add_line(&layout->declared[RESOURCES], record);
		break;
	case RECORD_OBJECT:
		object_map_put(&layout->objects, &record->object);
		sp_rtrace_order_add_line(&layout->declared[OBJECTS], record);
		break;
	case RECORD_BUILD_ID:
		object_map_set_build_id(&layout->objects, &record->build_id);
		sp_rtrace_order_add_line(&layout->declared[OBJECTS], record);
		break;
	case RECORD_COMMENT:
	case RECORD_SCAN:
	case RECORD_LOST:
		record_queue_add(&layout->comments, layout->call_count, record);
		break;
	case RECORD_CALL:
		sp_rtrace_order_pool_call(layout, &record->call);
		break;
	case RECORD_THREAD:
	case RECORD_NOTE:
	case RECORD_AREA:
	case RECORD_RESIDENT:
	case RECORD_BASELINE: /* the dialect has no place for these, but the writer counts them */
		return stage_put(layout->stage.next, record);
	}
	return 0;
}

static int sp_rtrace_order_put(struct stage *stage, const struct record *record)
{
	struct sp_rtrace_order_layout *layout = (struct sp_rtrace_order_layout *)stage;

	if (!layout->asked) {
		layout->asked = true;
		layout->holding = layout->options.is_wanted(layout->options.context);
	}
	if (layout->holding && !layout->options.hold_calls && record->type == RECORD_CALL) {
		const int error = sp_rtrace_order_let_go(layout);

		if (error)
			return error;
	}
	return layout->holding ? take_held(layout, record) : stage_put(stage->next, record);
}

static int sp_rtrace_order_finish(struct stage *stage)
{
	struct sp_rtrace_order_layout *layout = (struct sp_rtrace_order_layout *)stage;
	const int error = layout->holding ? sp_rtrace_order_let_go(layout) : 0;

	return error ? error : stage_finish_next(stage);
}

static void layout_free(struct stage *stage)
{
	struct sp_rtrace_order_layout *layout = (struct sp_rtrace_order_layout *)stage;

	for (size_t kind = 0; kind < KINDS; kind++)
		while (layout->declared[kind].first)
			drop_first(&layout->declared[kind]);
	record_queue_free(&layout->comments);
	call_store_free(&layout->store);
	free(layout->stack_list);
	stack_pool_free(&layout->stacks);
	object_map_free(&layout->objects);
	free(layout);
}

struct stage *sp_rtrace_order_new(struct stage *next, const struct layout_options *options)
{
	struct sp_rtrace_order_layout *layout = xmalloc(sizeof(*layout));

	*layout = (struct sp_rtrace_order_layout){
		.stage = {.put = sp_rtrace_order_put,
			  .finish = sp_rtrace_order_finish,
			  .free = layout_free,
			  .next = next},
		.options = *options,
		.comments.file = -1,
	};
	layout->stacks.objects = &layout->objects;
	return &layout->stage;
}
