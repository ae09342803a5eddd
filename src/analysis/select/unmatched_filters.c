#include "config.h"
#include "analysis/select/unmatched_filters.h"
#include "base/msg.h"
#include "base/terminal_escape.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Maximum size of the names of contexts that are stored, in bytes. A trace has up to 32 contexts, but a damaged one may
 * declare any number. */
enum { CONTEXTS_MAX = 8192 };

/* Stores which filters have matched, and data for messages about filters that have not. */
struct unmatched_filters {
	struct stage stage;
	struct select_options options;
	struct call_ranges ranges;
	bool context_declared;
	struct buf contexts; /* names of the declared contexts, each followed by a comma */
	bool in_context;     /* the trace contains a call in the context of -C */
	bool included;       /* the trace contains a call that the file of --include lists */
	bool excluded;       /* the trace contains a call that the file of --exclude lists */
	bool crossing;       /* the trace contains a call with the address of --call-address in its stack */
	bool together;       /* the trace contains a call that matches all filters */
	bool object_wanted, object_late;
	uint64_t calls, objects, objects_found;
};

static void unmatched_filters_look_at_call(struct unmatched_filters *unmatched, const struct record_call *call)
{
	const struct select_options *options = &unmatched->options;
	const bool in_context = !options->by_context || select_in_context(options, call);
	const bool included = !options->include || index_set_has(options->include, call->index);
	const bool excluded = options->exclude && index_set_has(options->exclude, call->index);
	const bool crossing = !options->call_address || call_ranges_cross(&unmatched->ranges, call);

	unmatched->calls++;
	unmatched->in_context |= in_context;
	unmatched->included |= included;
	unmatched->excluded |= excluded;
	unmatched->crossing |= crossing;
	unmatched->together |= in_context && included && !excluded && crossing;
}

static void look_at_object(struct unmatched_filters *unmatched, const struct record_object *object)
{
	const char *path = string_or_empty(object->path);
	const char *sysroot = unmatched->options.sysroot;

	if (unmatched->options.call_address) {
		if (call_ranges_want(&unmatched->ranges, object)) {
			unmatched->object_wanted = true;
			unmatched->object_late |= unmatched->calls && !unmatched->ranges.count;
		}
		call_ranges_take(&unmatched->ranges, object);
	}
	if (!sysroot || *path != '/')
		return;
	char *full = xasprintf("%s%s", sysroot, path);
	struct stat st;

	unmatched->objects++;
	/* Uses lstat(), because an absolute symbolic link in the sysroot leads outside of the sysroot, where its target
	 * may not exist. */
	unmatched->objects_found += !lstat(full, &st);
	free(full);
}

static void look_at_context(struct unmatched_filters *unmatched, const struct record_context *context)
{
	select_learn_context(&unmatched->options, context);
	unmatched->context_declared |= context->id & unmatched->options.context_mask;
	if (unmatched->contexts.size < CONTEXTS_MAX)
		buf_printf(&unmatched->contexts, "%s,", string_or_empty(context->name));
}

static int unmatched_filters_put(struct stage *stage, const struct record *record)
{
	struct unmatched_filters *unmatched = (struct unmatched_filters *)stage;

	if (record->type == RECORD_CALL)
		unmatched_filters_look_at_call(unmatched, &record->call);
	else if (record->type == RECORD_OBJECT)
		look_at_object(unmatched, &record->object);
	else if (record->type == RECORD_CONTEXT)
		look_at_context(unmatched, &record->context);
	return stage_put(stage->next, record);
}

/* Appends a line for each name of -C that is no name of a declared context. */
static void check_context_names(struct unmatched_filters *unmatched, struct buf *out)
{
	const char *const declared = buf_str(&unmatched->contexts);
	const size_t size = unmatched->contexts.size;

	for (const char *p = unmatched->options.context_names; *p; p += strcspn(p, ","), p += *p == ',') {
		const size_t length = strcspn(p, ",");
		bool found = !length;

		for (size_t at = 0; at < size && !found;) {
			const size_t end = (size_t)((const char *)memchr(declared + at, ',', size - at) - declared);

			found = end - at == length && !memcmp(declared + at, p, length);
			at = end + 1;
		}
		if (found)
			continue;
		buf_printf(out, "-C %.*s matches nothing: the trace has %s", (int)length, p,
			   size ? "the contexts " : "no contexts");
		plain_add(out, declared);
		out->size -= size != 0; /* the comma after the last name */
		buf_add_char(out, '\n');
	}
}

static void check_address(const struct unmatched_filters *unmatched, uint64_t selected, bool may_be_late,
			  struct buf *out)
{
	const struct call_address *address = unmatched->options.call_address;
	const bool late = may_be_late && unmatched->object_late;

	if (!unmatched->object_wanted) {
		buf_printf(out, "--call-address matches nothing: no object of the trace has '%s' in its path\n",
			   address->object);
	} else if (!unmatched->crossing && !selected) {
		buf_printf(out,
			   "--call-address matches nothing: no call of the trace goes through %s:%" PRIx64 "+%" PRIx64
			   "%s\n",
			   address->object, address->start, address->size,
			   late ? " as far as functrace-postproc can tell: the trace declares the object only after "
				  "some calls. Give the trace as a file, not through a pipe"
				: ". Another build of the object has other addresses");
	} else if (late) {
		msg_warn("the trace declares an object with '%s' in its path only after some calls, so the filter has "
			 "left these calls out; give the trace as a file, not through a pipe",
			 address->object);
	}
}

static void report_no_event(const char *option, size_t count, struct buf *out)
{
	if (count == 1)
		buf_printf(out, "%s matches nothing: the trace has no event with the number in the file\n", option);
	else
		buf_printf(out,
			   "%s matches nothing: none of the %zu numbers in the file is that of an event of the trace\n",
			   option, count);
}

void unmatched_filters_report(struct stage *stage, uint64_t selected, bool may_be_late, struct buf *out)
{
	struct unmatched_filters *unmatched = (struct unmatched_filters *)stage;
	const struct select_options *options = &unmatched->options;
	const size_t before = out->size;

	if (options->by_context && options->context_names)
		check_context_names(unmatched, out);
	else if (options->by_context && options->context_mask && !unmatched->in_context && !unmatched->context_declared)
		buf_printf(out,
			   "-C %" PRIx32
			   " matches nothing: the trace declares no such context, and no call was made in one\n",
			   options->context_mask);
	if (options->include && !unmatched->included)
		report_no_event("--include", options->include->count, out);
	if (options->exclude && options->exclude->count && !unmatched->excluded)
		report_no_event("--exclude", options->exclude->count, out);
	if (options->call_address)
		check_address(unmatched, selected, may_be_late, out);
	if (unmatched->objects && !unmatched->objects_found)
		buf_printf(out, "--sysroot matches nothing: none of the trace's objects is under %s\n",
			   options->sysroot);
	/* If a context of -C exists, but no call was made in it (in_context is false), nothing is reported. */
	if (out->size == before && unmatched->in_context && unmatched->calls && !unmatched->together && !selected)
		buf_add_str(out, "each filter matches something, but no call of the trace matches all of them\n");
}

void unmatched_filters_learn(struct stage *stage, const struct record_object *object)
{
	struct unmatched_filters *unmatched = (struct unmatched_filters *)stage;

	if (!unmatched->options.call_address)
		return;
	unmatched->object_wanted |= call_ranges_want(&unmatched->ranges, object);
	call_ranges_take(&unmatched->ranges, object);
}

static void unmatched_filters_free(struct stage *stage)
{
	struct unmatched_filters *unmatched = (struct unmatched_filters *)stage;

	call_ranges_free(&unmatched->ranges);
	buf_free(&unmatched->contexts);
	free(unmatched);
}

struct stage *unmatched_filters_new(struct stage *next, const struct select_options *options)
{
	struct unmatched_filters *unmatched = xmalloc(sizeof(*unmatched));

	*unmatched = (struct unmatched_filters){
		.stage = {.put = unmatched_filters_put,
			  .finish = stage_finish_next,
			  .free = unmatched_filters_free,
			  .next = next},
		.options = *options,
		.ranges = {.address = options->call_address, .sysroot = options->sysroot},
	};
	return &unmatched->stage;
}
