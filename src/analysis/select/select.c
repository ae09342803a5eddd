#include "config.h"
#include "analysis/select/select.h"
#include "analysis/baseline_blocks.h"
#include "analysis/resources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct selection {
	struct stage stage;
	struct select_options options;
	struct call_ranges ranges;
	uint64_t count; /* number of selected calls */
	/* The value of each live id is twice the number of its references, plus 1 if its allocation was chosen. */
	struct resources resources;
};

/* Maximum size of a file of event numbers in bytes, in case the user names a device by mistake. */
enum { INDEX_FILE_MAX = 1 << 28 };

static int select_compare_numbers(const void *a, const void *b)
{
	return compare_u64(*(const uint64_t *)a, *(const uint64_t *)b);
}

static bool parse_index(const char *line, uint64_t *value)
{
	char *end;

	if (*line < '0' || *line > '9')
		return false;
	errno = 0;
	*value = strtoull(line, &end, line[0] == '0' && (line[1] == 'x' || line[1] == 'X') ? 16 : 10);
	return !errno && !end[strspn(end, " \t\r")];
}

int index_set_read(struct index_set *set, const char *path, size_t *line)
{
	size_t size;
	char *text = read_file(path, INDEX_FILE_MAX, &size);
	int error = 0;

	*set = (struct index_set){0};
	if (!text)
		return -errno;
	*line = 1;
	for (char *p = text; p < text + size && !error; (*line)++) {
		char *end = memchr(p, '\n', (size_t)(text + size - p));
		uint64_t value;

		if (!end)
			end = text + size;
		*end = '\0';
		p += strspn(p, " \t\r");
		if (*p && *p != '#') {
			if (!parse_index(p, &value)) {
				error = -EINVAL;
				break;
			}
			ARRAY_GROW(set->items, set->capacity, set->count);
			set->items[set->count++] = value;
		}
		p = end + 1;
	}
	free(text);
	if (error)
		index_set_free(set);
	else if (set->count)
		qsort(set->items, set->count, sizeof(*set->items), select_compare_numbers);
	return error;
}

void index_set_free(struct index_set *set)
{
	free(set->items);
	*set = (struct index_set){0};
}

bool index_set_has(const struct index_set *set, uint64_t index)
{
	return set->count && bsearch(&index, set->items, set->count, sizeof(index), select_compare_numbers);
}

void select_learn_context(struct select_options *options, const struct record_context *context)
{
	const size_t length = strlen(string_or_empty(context->name));

	for (const char *p = options->context_names; p && *p; p += strcspn(p, ","), p += *p == ',')
		if (strcspn(p, ",") == length && !strncmp(p, context->name, length))
			options->context_mask |= context->id;
}

bool select_in_context(const struct select_options *options, const struct record_call *call)
{
	return options->context_mask || options->context_names ? call->context & options->context_mask : !call->context;
}

static bool is_selected(const struct selection *selection, const struct record_call *call)
{
	const struct select_options *options = &selection->options;

	if (options->by_context && !select_in_context(options, call))
		return false;
	if (options->include && !index_set_has(options->include, call->index))
		return false;
	if (options->exclude && index_set_has(options->exclude, call->index))
		return false;
	return !options->call_address || call_ranges_cross(&selection->ranges, call);
}

/* Returns true if an allocation is chosen; its release is then chosen, too. */
static bool select_is_chosen(const struct selection *selection, const struct record_call *call)
{
	const struct select_options *options = &selection->options;

	return (!options->by_allocation || is_selected(selection, call)) &&
	       (!options->filter || filter_fits(options->filter, call));
}

/* Returns true if a block from before the trace is chosen. */
static bool is_before_chosen(const struct selection *selection, const struct record_call *call)
{
	const struct select_options *options = &selection->options;

	return is_selected(selection, call) && (!options->filter || filter_fits_before(options->filter, call));
}

/* Returns true if the call, a release whose allocation is not in the trace, is chosen. */
static bool is_stray_chosen(const struct selection *selection, const struct record_call *call)
{
	const struct select_options *options = &selection->options;

	return (!options->by_allocation || is_selected(selection, call)) &&
	       (!options->filter || filter_fits_stray(options->filter));
}

/* Returns true if the allocation of the block that a call allocates or releases is chosen. If that allocation is not in
 * the trace, is_stray_chosen() decides. Any other call is chosen by itself. */
static bool goes_with_allocation(struct selection *selection, const struct record_call *call)
{
	struct resource_state *resource = resources_of(&selection->resources, call->resource);
	uintptr_t state = (uintptr_t)resource_live_get(resource, call->id);
	const bool is_counted = resource->flags & RESOURCE_REFCOUNT;

	if (call->kind == CALL_COPY || resource->flags & RESOURCE_CALL)
		return select_is_chosen(selection, call);
	if (call->kind == CALL_ALLOC)
		state = state && is_counted ? state + 2 : 2 + (uintptr_t)select_is_chosen(selection, call);
	else if (state)
		state -= 2;
	else
		return is_stray_chosen(selection, call);
	if (state > 1)
		resource_live_set(resource, call->id, (void *)state);
	else
		resource_live_remove(resource, call->id);
	return state & 1;
}

/* Returns true if releases are chosen together with their allocations. */
static bool has_fates(const struct selection *selection)
{
	return selection->options.by_allocation || selection->options.filter;
}

static bool is_let_through(struct selection *selection, const struct record_call *call)
{
	const bool is_seen = selection->options.by_allocation || is_selected(selection, call);

	/* goes_with_allocation() must be called even for an allocation that is not selected itself, because its release
	 * may be selected. */
	return (!has_fates(selection) || goes_with_allocation(selection, call)) && is_seen;
}

/* Passes on the chosen blocks of a baseline. */
static int select_put_baseline(struct selection *selection, const struct record_baseline *baseline)
{
	struct resource_state *resource = resources_of(&selection->resources, baseline->resource);
	struct baseline_block *chosen = xcalloc(baseline->count + 1, sizeof(*chosen));
	uint32_t count = 0;
	int error = 0;

	for (uint32_t i = 0; i < baseline->count; i++) {
		const struct record_call call = baseline_call(baseline, i);
		const bool is_wanted = is_before_chosen(selection, &call);

		if (has_fates(selection) && !resource_live_get(resource, call.id))
			resource_live_set(resource, call.id, (void *)(2 + (uintptr_t)is_wanted));
		if (is_wanted)
			chosen[count++] = baseline->blocks[i];
	}
	if (count)
		error = stage_put(
			selection->stage.next,
			&(struct record){.type = RECORD_BASELINE, .baseline = {baseline->resource, chosen, count}});
	free(chosen);
	return error;
}

/* Returns true if a lost record is about a block that was not chosen. */
static bool select_is_of_another(struct selection *selection, const struct record_lost *lost)
{
	const struct resource_state *resource = resources_of(&selection->resources, lost->resource);

	return has_fates(selection) && !((uintptr_t)resource_live_get(resource, lost->id) & 1);
}

static int select_put(struct stage *stage, const struct record *record)
{
	struct selection *selection = (struct selection *)stage;
	const struct select_options *options = &selection->options;

	if (record->type == RECORD_RESOURCE)
		resources_declare(&selection->resources, &record->resource);
	if (record->type == RECORD_CONTEXT)
		select_learn_context(&selection->options, &record->context);
	if (record->type == RECORD_CALL) {
		if (!is_let_through(selection, &record->call))
			return 0;
		selection->count++;
	} else if (options->filter) {
		filter_note(options->filter, record);
	}
	if (record->type == RECORD_BASELINE)
		return select_put_baseline(selection, &record->baseline);
	if (record->type == RECORD_LOST && select_is_of_another(selection, &record->lost))
		return 0;
	if (record->type == RECORD_CONTEXT && options->by_context && !(record->context.id & options->context_mask))
		return 0;
	if (record->type == RECORD_OBJECT && options->call_address)
		call_ranges_take(&selection->ranges, &record->object);
	return stage_put(stage->next, record);
}

static void selection_free(struct stage *stage)
{
	struct selection *selection = (struct selection *)stage;

	call_ranges_free(&selection->ranges);
	resources_free(&selection->resources);
	free(selection);
}

void select_learn(struct stage *stage, const struct record_object *object)
{
	struct selection *selection = (struct selection *)stage;

	if (selection->options.call_address)
		call_ranges_take(&selection->ranges, object);
}

uint64_t select_count(const struct stage *stage)
{
	return ((const struct selection *)stage)->count;
}

struct stage *select_new(struct stage *next, const struct select_options *options)
{
	struct selection *selection = xmalloc(sizeof(*selection));

	*selection = (struct selection){
		.stage = {.put = select_put, .finish = stage_finish_next, .free = selection_free, .next = next},
		.options = *options,
		.ranges = {.address = options->call_address, .sysroot = options->sysroot},
	};
	return &selection->stage;
}
