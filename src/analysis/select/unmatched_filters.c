#include "config.h"
#include "analysis/select/unmatched_filters.h"
#include "base/msg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Bytes of names that are kept. A trace has up to 32 contexts, but a damaged one may declare any number. */
enum { CONTEXTS_MAX = 8192 };

/* What the trace contains of what the filters ask for. */
struct choices {
	struct stage stage;
	struct select_options options;
	struct call_ranges ranges;
	bool context_declared;
	struct buf contexts;                           /* their names, each with a comma after it */
	bool in_context, included, excluded, crossing; /* such a call came */
	bool together;                                 /* a call matches all filters */
	bool object_wanted, object_late;
	uint64_t calls, objects, objects_found;
};

static void unmatched_filters_look_at_call(struct choices *choices, const struct record_call *call)
{
	const struct select_options *options = &choices->options;
	const bool in_context = !options->by_context || select_in_context(options, call);
	const bool included = !options->include || index_set_has(options->include, call->index);
	const bool excluded = options->exclude && index_set_has(options->exclude, call->index);
	const bool crossing = !options->call_address || call_ranges_cross(&choices->ranges, call);

	choices->calls++;
	choices->in_context |= in_context;
	choices->included |= included;
	choices->excluded |= excluded;
	choices->crossing |= crossing;
	choices->together |= in_context && included && !excluded && crossing;
}

static void look_at_object(struct choices *choices, const struct record_object *object)
{
	const char *path = string_or_empty(object->path);
	const char *sysroot = choices->options.sysroot;

	if (choices->options.call_address) {
		if (call_ranges_want(&choices->ranges, object)) {
			choices->object_wanted = true;
			choices->object_late |= choices->calls && !choices->ranges.count;
		}
		call_ranges_take(&choices->ranges, object);
	}
	if (!sysroot || *path != '/')
		return;
	char *full = xasprintf("%s%s", sysroot, path);
	struct stat st;

	choices->objects++;
	/* A dangling symbolic link counts as found. */
	choices->objects_found += !lstat(full, &st);
	free(full);
}

static void look_at_context(struct choices *choices, const struct record_context *context)
{
	select_learn_context(&choices->options, context);
	choices->context_declared |= context->id & choices->options.context_mask;
	if (choices->contexts.size < CONTEXTS_MAX)
		buf_printf(&choices->contexts, "%s,", string_or_empty(context->name));
}

static int unmatched_filters_put(struct stage *stage, const struct record *record)
{
	struct choices *choices = (struct choices *)stage;

	if (record->type == RECORD_CALL)
		unmatched_filters_look_at_call(choices, &record->call);
	else if (record->type == RECORD_OBJECT)
		look_at_object(choices, &record->object);
	else if (record->type == RECORD_CONTEXT)
		look_at_context(choices, &record->context);
	return stage_put(stage->next, record);
}

/* Reports each name of -C that no context has. */
static void check_context_names(const struct choices *choices, struct buf *out)
{
	const char *const declared = choices->contexts.size ? (const char *)choices->contexts.data : "";
	const size_t size = choices->contexts.size;

	for (const char *p = choices->options.context_names; *p; p += strcspn(p, ","), p += *p == ',') {
		const size_t length = strcspn(p, ",");
		bool found = !length;

		for (size_t at = 0; at < size && !found;) {
			const size_t end = (size_t)((const char *)memchr(declared + at, ',', size - at) - declared);

			found = end - at == length && !memcmp(declared + at, p, length);
			at = end + 1;
		}
		if (found)
			continue;
		buf_printf(out, "-C %.*s matches nothing: the trace has %s%.*s\n", (int)length, p,
			   size ? "the contexts " : "no contexts", size ? (int)size - 1 : 0, declared);
	}
}

static void check_address(const struct choices *choices, uint64_t selected, bool may_be_late, struct buf *out)
{
	const struct call_address *address = choices->options.call_address;
	const bool late = may_be_late && choices->object_late;

	if (!choices->object_wanted) {
		buf_printf(out, "--call-address matches nothing: no object of the trace has '%s' in its path\n",
			   address->object);
	} else if (!choices->crossing && !selected) {
		buf_printf(out,
			   "--call-address matches nothing: no call of the trace goes through %s:%" PRIx64 "+%" PRIx64
			   "%s\n",
			   address->object, address->start, address->size,
			   late ? " as far as functrace-postproc can tell; the trace declares that object after its "
				  "calls: give the trace as a file, not through a pipe"
				: "; the addresses of another build differ");
	} else if (late) {
		msg_warn("an object with '%s' in its path is declared after calls, which were not compared with it; "
			 "give the trace as a file, not through a pipe",
			 address->object);
	}
}

static void report_no_event(const char *option, size_t count, struct buf *out)
{
	if (count == 1)
		buf_printf(out, "%s matches nothing: the number in its file is no event of the trace\n", option);
	else
		buf_printf(out, "%s matches nothing: none of the %zu numbers in its file is an event of the trace\n",
			   option, count);
}

void unmatched_filters_report(const struct stage *stage, uint64_t selected, bool may_be_late, struct buf *out)
{
	const struct choices *choices = (const struct choices *)stage;
	const struct select_options *options = &choices->options;
	const size_t before = out->size;

	if (options->by_context && options->context_names)
		check_context_names(choices, out);
	else if (options->by_context && options->context_mask && !choices->in_context && !choices->context_declared)
		buf_printf(out,
			   "-C %" PRIx32 " matches nothing: the trace has no such context, and no call is in one\n",
			   options->context_mask);
	if (options->include && !choices->included)
		report_no_event("--include", options->include->count, out);
	if (options->exclude && options->exclude->count && !choices->excluded)
		report_no_event("--exclude", options->exclude->count, out);
	if (options->call_address)
		check_address(choices, selected, may_be_late, out);
	if (choices->objects && !choices->objects_found)
		buf_printf(out, "--sysroot matches nothing: none of the trace's objects is under %s\n",
			   options->sysroot);
	/* A context in which no call was made is not reported. */
	if (out->size == before && choices->in_context && choices->calls && !choices->together && !selected)
		buf_add_str(out, "each filter matches something, but no call of the trace matches all of them\n");
}

void unmatched_filters_learn(struct stage *stage, const struct record_object *object)
{
	struct choices *choices = (struct choices *)stage;

	if (!choices->options.call_address)
		return;
	choices->object_wanted |= call_ranges_want(&choices->ranges, object);
	call_ranges_take(&choices->ranges, object);
}

static void unmatched_filters_free(struct stage *stage)
{
	struct choices *choices = (struct choices *)stage;

	call_ranges_free(&choices->ranges);
	buf_free(&choices->contexts);
	free(choices);
}

struct stage *unmatched_filters_new(struct stage *next, const struct select_options *options)
{
	struct choices *choices = xmalloc(sizeof(*choices));

	*choices = (struct choices){
		.stage = {.put = unmatched_filters_put,
			  .finish = stage_finish_next,
			  .free = unmatched_filters_free,
			  .next = next},
		.options = *options,
		.ranges = {.address = options->call_address, .sysroot = options->sysroot},
	};
	return &choices->stage;
}
