#include "config.h"
#include "analysis/select/prepare.h"
#include "analysis/resources.h"
#include "base/buf.h"
#include "base/msg.h"
#include "base/terminal_escape.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct prepare {
	struct stage stage;
	struct prepare_options options;
	bool other_process, chose_call;
	/* The chosen resources. Their declarations are held back until all are read, because a resource gets the id 1
	 * if no other one is chosen. */
	struct resources chosen;
	struct resources all; /* all resources of the trace */
	bool written, renumbered;
	uint32_t only; /* the resource that the id 0 means; 0 if unknown */
	/* lowest and highest: range of the heap's blocks, which is added to heap records that lack it. Such a record,
	 * if it precedes the calls, is held back until the end, when the range is known. */
	uint32_t heap_type; /* the resource whose blocks are on the heap; 0 if there is none */
	uint64_t lowest, highest;
	bool has_heap; /* `heap` is held back */
	struct record_heap heap;
};

static int prepare_put_process(struct prepare *prepare, const struct record *record)
{
	const struct prepare_options *options = &prepare->options;
	struct record changed = *record;
	struct record_process *process = &changed.process;

	prepare->other_process = options->pid && !(process->has_pid && process->pid == options->pid);
	if (prepare->other_process)
		return 0;
	process->filters &= ~(unsigned)FILTER_COMPRESS;
	if (options->resolve)
		process->filters |= FILTER_RESOLVE;
	if (options->trim && (!process->has_depth || process->depth > options->depth)) {
		process->depth = options->depth;
		process->has_depth = true;
	}
	return stage_put(prepare->stage.next, &changed);
}

/* Returns true if a list separated by commas contains the type. */
static bool list_has(const char *list, const char *type)
{
	const size_t length = strlen(type);

	for (; list; list = strchr(list, ','), list += list != NULL)
		if (!strncmp(list, type, length) && (list[length] == ',' || !list[length]))
			return true;
	return false;
}

/* Adds a resource to the mask if -R names its type. Must be called for each declaration, which precedes the calls of
 * that resource. */
static void choose_by_type(struct prepare *prepare, const struct record_resource *record)
{
	const char *const types = prepare->options.resource_types;

	if (types && record->id >= 1 && record->id <= 64 && list_has(types, record->type))
		prepare->options.resource_mask |= UINT64_C(1) << (record->id - 1);
}

static bool prepare_is_chosen(const struct prepare *prepare, uint32_t id)
{
	return id >= 1 && id <= 64 && prepare->options.resource_mask >> (id - 1) & 1;
}

static int prepare_put_resource(struct prepare *prepare, const struct resource_state *resource, uint32_t id)
{
	const struct record record = {
		.type = RECORD_RESOURCE,
		.resource = {.id = id, .flags = resource->flags, .type = resource->type, .desc = resource->desc}};

	return stage_put(prepare->stage.next, &record);
}

static int put_resources(struct prepare *prepare)
{
	int error = 0;

	if (prepare->written)
		return 0;
	prepare->written = true;
	prepare->renumbered = prepare->chosen.count == 1;
	for (size_t i = 0; i < prepare->chosen.count && !error; i++) {
		const struct resource_state *resource = prepare->chosen.items[i];

		error = prepare_put_resource(prepare, resource, prepare->renumbered ? 1 : resource->id);
	}
	return error;
}

/* Returns the id of a chosen resource in the output. If the only chosen resource has got the id 1, and a resource with
 * id 1 is declared later, the two exchange their ids. */
static uint32_t renumber(const struct prepare *prepare, uint32_t id)
{
	if (!prepare->renumbered)
		return id;
	if (id == prepare->chosen.items[0]->id)
		return 1;
	return id == 1 ? prepare->chosen.items[0]->id : id;
}

static void note_resource(struct prepare *prepare, const struct record_resource *resource)
{
	resources_declare(&prepare->all, resource);
	prepare->only = prepare->all.declared == 1 ? resource->id : 0;
	if (is_heap_type(resource->type))
		prepare->heap_type = resource->id;
}

static int prepare_take_resource(struct prepare *prepare, const struct record *record)
{
	if (!prepare_is_chosen(prepare, record->resource.id))
		return 0;
	resources_declare(&prepare->chosen, &record->resource);
	if (!prepare->written)
		return 0;
	if (prepare->chosen.count == 1)
		prepare->renumbered = true;
	struct record changed = *record;

	changed.resource.id = renumber(prepare, record->resource.id);
	return stage_put(prepare->stage.next, &changed);
}

static void prepare_note_block(struct prepare *prepare, const struct record_call *call)
{
	if (call->kind != CALL_ALLOC || !call->id ||
	    (prepare->all.declared > 1 && call->resource != prepare->heap_type))
		return;
	if (!prepare->lowest || call->id < prepare->lowest)
		prepare->lowest = call->id;
	if (call->id > prepare->highest)
		prepare->highest = call->id;
}

static int prepare_put_heap(struct prepare *prepare, const struct record *record)
{
	struct record changed = *record;

	if (!changed.heap.lowest && !prepare->lowest && !prepare->has_heap) {
		prepare->has_heap = true;
		prepare->heap = record->heap;
		return 0;
	}
	if (!changed.heap.lowest)
		changed.heap.lowest = prepare->lowest;
	if (!changed.heap.highest)
		changed.heap.highest = prepare->highest;
	return stage_put(prepare->stage.next, &changed);
}

static int prepare_put_call(struct prepare *prepare, const struct record *record)
{
	const struct prepare_options *options = &prepare->options;
	struct record changed = *record;
	struct record_call *call = &changed.call;

	prepare_note_block(prepare, call);
	if (options->choose_resources) {
		const uint32_t id = call->resource ? call->resource : prepare->only;

		if (!prepare_is_chosen(prepare, id))
			return 0;
		prepare->chose_call = true;
		call->resource = prepare->chosen.count ? renumber(prepare, id) : id;
	}
	if (options->remove_args)
		call->arg_count = 0;
	return stage_put(prepare->stage.next, &changed);
}

/* Returns a pointer to the resource's id in a record other than a call; NULL if the record has no such id. */
static uint32_t *resource_place(struct record *record)
{
	switch (record->type) {
	case RECORD_SCAN:
		return &record->scan.resource;
	case RECORD_LOST:
		return &record->lost.resource;
	case RECORD_BASELINE:
		return &record->baseline.resource;
	case RECORD_ESTIMATE:
		return &record->estimate.call.resource;
	case RECORD_INTERVAL:
		return &record->interval.resource;
	default:
		return NULL;
	}
}

/* Passes on a record other than a call, if -R chooses its resource or the record has no resource. */
static int put_other(struct prepare *prepare, const struct record *record)
{
	struct record changed = *record;
	uint32_t *const place = resource_place(&changed);

	if (place) {
		const uint32_t id = *place ? *place : prepare->only;

		if (!prepare_is_chosen(prepare, id))
			return 0;
		*place = prepare->chosen.count ? renumber(prepare, id) : id;
	}
	return stage_put(prepare->stage.next, &changed);
}

static int prepare_put(struct stage *stage, const struct record *record)
{
	struct prepare *prepare = (struct prepare *)stage;
	const bool choose = prepare->options.choose_resources;

	if (record->type == RECORD_PROCESS)
		return prepare_put_process(prepare, record);
	if (prepare->other_process)
		return 0;
	if (record->type == RECORD_RESOURCE) {
		note_resource(prepare, &record->resource);
		choose_by_type(prepare, &record->resource);
		if (choose)
			return prepare_take_resource(prepare, record);
	}
	if (choose && record->type != RECORD_MODULE && record->type != RECORD_CONTEXT) {
		const int error = put_resources(prepare);

		if (error)
			return error;
	}
	if (record->type == RECORD_CALL)
		return prepare_put_call(prepare, record);
	if (record->type == RECORD_HEAP)
		return prepare_put_heap(prepare, record);
	return choose ? put_other(prepare, record) : stage_put(stage->next, record);
}

static int prepare_finish(struct stage *stage)
{
	struct prepare *prepare = (struct prepare *)stage;
	int error = prepare->options.choose_resources ? put_resources(prepare) : 0;

	if (!error && prepare->has_heap)
		error = prepare_put_heap(prepare, &(struct record){.type = RECORD_HEAP, .heap = prepare->heap});
	return error ? error : stage_finish_next(stage);
}

static void prepare_free(struct stage *stage)
{
	struct prepare *prepare = (struct prepare *)stage;

	resources_free(&prepare->chosen);
	resources_free(&prepare->all);
	free(prepare);
}

void prepare_report(const struct stage *stage, struct buf *out)
{
	const struct prepare *prepare = (const struct prepare *)stage;
	const struct prepare_options *options = &prepare->options;
	struct buf known = {0};

	if (!options->choose_resources || prepare->chosen.count || prepare->chose_call)
		return;
	for (size_t i = 0; i < prepare->all.count; i++) {
		const struct resource_state *resource = prepare->all.items[i];

		if (resource->id < 1 || resource->id > 64)
			continue;
		buf_printf(&known, "%s%" PRIx64 " ", known.size ? ", " : ": ", UINT64_C(1) << (resource->id - 1));
		plain_add(&known, string_or_empty(resource->type));
	}
	if (options->resource_types)
		buf_printf(out, "-R %s matches nothing: the trace has %s%s\n", options->resource_types,
			   known.size ? "other resources" : "no resource", buf_str(&known));
	else
		buf_printf(out, "-R %" PRIx64 " matches nothing: the trace has %s%s\n", options->resource_mask,
			   known.size ? "other resources" : "no resource", buf_str(&known));
	buf_free(&known);
}

struct stage *prepare_new(struct stage *next, const struct prepare_options *options)
{
	struct prepare *prepare = xmalloc(sizeof(*prepare));

	*prepare = (struct prepare){
		.stage = {.put = prepare_put, .finish = prepare_finish, .free = prepare_free, .next = next},
		.options = *options,
	};
	return &prepare->stage;
}
