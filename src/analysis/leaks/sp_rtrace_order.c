#include "config.h"
#include "analysis/leaks/sp_rtrace_order.h"
#include "analysis/leaks/call_store.h"
#include "analysis/record_queue.h"

#include <stdlib.h>

/* The queues of held records: declarations, in the order of the dialect, and records between the calls. */
enum waiting { AT_ONCE, ATTACHMENTS, HEAPS, MODULES, CONTEXTS, RESOURCES, OBJECTS, BETWEEN_CALLS, QUEUES };

/* The queue for each type of record except calls, which are stored in `store`. The process record is passed on at once,
 * because it is the first one in the dialect. Records for which the dialect has no place are also passed on at once, so
 * that the writer counts them. */
static const enum waiting waits_in[RECORD_INTERVAL + 1] = {
	[RECORD_ATTACHMENT] = ATTACHMENTS, [RECORD_HEAP] = HEAPS,
	[RECORD_MODULE] = MODULES,         [RECORD_CONTEXT] = CONTEXTS,
	[RECORD_RESOURCE] = RESOURCES,     [RECORD_OBJECT] = OBJECTS,
	[RECORD_BUILD_ID] = OBJECTS,       [RECORD_COMMENT] = BETWEEN_CALLS,
	[RECORD_SCAN] = BETWEEN_CALLS,     [RECORD_LOST] = BETWEEN_CALLS,
};

struct sp_rtrace_order_layout {
	struct stage stage;
	struct layout_options options;
	bool asked, holding;
	struct record_queue queues[QUEUES]; /* the place of a record is the number of calls before it */
	struct object_map objects;
	struct stack_pool stacks;
	struct call_store store;
	struct call_list *calls;
	uint64_t call_count;
};

static void sp_rtrace_order_pool_call(struct sp_rtrace_order_layout *layout, const struct record_call *call)
{
	struct stack *stack = call->has_frames ? stack_intern(&layout->stacks, call) : NULL;

	if (!layout->calls)
		layout->calls = call_store_list(&layout->store);
	call_store_add(&layout->store, layout->calls, call, call_store_stack(&layout->store, stack));
	layout->call_count++;
}

static int put_held(struct sp_rtrace_order_layout *layout)
{
	struct call_cursor cursor;
	struct record_call call;
	uint64_t count = 0;
	int status, error = 0;

	call_cursor_begin(&cursor, &layout->store, layout->calls);
	while (!error && (status = call_cursor_next(&cursor, &call)) == 1) {
		error = record_queue_put(&layout->queues[BETWEEN_CALLS], ++count, layout->stage.next);
		if (!error)
			error = call_cursor_put(&cursor, &call, &layout->objects, layout->stage.next);
	}
	call_cursor_end(&cursor);
	return error ? error : status;
}

/* Passes on all records that were held back. Later records are not held back. */
static int sp_rtrace_order_let_go(struct sp_rtrace_order_layout *layout)
{
	int error = 0;

	layout->holding = false;
	for (size_t i = ATTACHMENTS; i <= OBJECTS && !error; i++)
		error = record_queue_put(&layout->queues[i], UINT64_MAX, layout->stage.next);
	if (!error && layout->calls)
		error = put_held(layout);
	return error ? error : record_queue_put(&layout->queues[BETWEEN_CALLS], UINT64_MAX, layout->stage.next);
}

static int take_held(struct sp_rtrace_order_layout *layout, const struct record *record)
{
	const enum waiting queue = waits_in[record->type];

	if (record->type == RECORD_CALL) {
		sp_rtrace_order_pool_call(layout, &record->call);
		return 0;
	}
	if (!queue)
		return stage_put(layout->stage.next, record);
	object_map_note(&layout->objects, record);
	record_queue_add(&layout->queues[queue], layout->call_count, record);
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

	for (size_t i = 0; i < QUEUES; i++)
		record_queue_free(&layout->queues[i]);
	call_store_free(&layout->store);
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
	};
	layout->stacks.objects = &layout->objects;
	return &layout->stage;
}
