#include "config.h"
#include "record/remarks.h"
#include "record/trace_output.h"
#include "base/buf.h"

#include <string.h>

/* Appends the call as `open(path="/x", flags=O_RDONLY)`, or as `open(...)` if its arguments are unknown. Sets *result
 * and *error if the list of arguments contains them. */
static void remarks_put_call(struct buf *text, const struct event *e, const char **result, const char **error)
{
	const char *separator = "";

	buf_printf(text, "%s(%s", e->function->shown, e->args ? "" : "...");
	for (size_t i = 0; e->args && i < e->args->count; i++) {
		const struct call_arg *const arg = &e->args->items[i];

		if (!strcmp(arg->name, ARG_RESULT)) {
			*result = arg->value;
		} else if (!strcmp(arg->name, ARG_ERROR)) {
			*error = arg->value;
		} else {
			buf_printf(text, "%s%s%s%s", separator, arg->name, *arg->name ? "=" : "", arg->value);
			separator = ", ";
		}
	}
	buf_add_str(text, ")");
}

static void put_remark(struct trace *trace, struct thread *thread, struct buf *text)
{
	output_thread(trace, thread);
	output_note(trace, "%s", buf_str(text));
	buf_free(text);
}

void remark_failed(struct trace *trace, const struct event *e)
{
	struct buf text = {0};
	const char *result = NULL, *error = NULL;

	/* The trace of a fork's child begins with its first event. A failed call does not begin it, because most
	 * children only make some failing calls before they call execve. */
	if (trace->origin.forked_by || !trace->output.writer || trace->broken)
		return;
	trace->counts.failures++;
	remarks_put_call(&text, e, &result, &error);
	if (result)
		buf_printf(&text, " = %s", result);
	buf_printf(&text, result && error ? " %s" : " failed", error);
	put_remark(trace, e->thread, &text);
}

void remark_no_return(struct trace *trace, const struct event *e, const char *why)
{
	struct buf text = {0};
	const char *result = NULL, *error = NULL;

	output_begin_late(trace);
	if (!trace->output.writer || trace->broken)
		return;
	trace->counts.unreturned++;
	remarks_put_call(&text, e, &result, &error);
	buf_printf(&text, " <no return>: %s", why);
	put_remark(trace, e->thread, &text);
}

void remark_more(struct trace *trace, struct thread *thread, size_t count)
{
	struct buf text = {0};

	if (!trace->output.writer || trace->broken)
		return;
	trace->counts.unreturned += count;
	buf_printf(&text, "and %zu outer call%s of this thread <no return>", count, count == 1 ? "" : "s");
	put_remark(trace, thread, &text);
}
