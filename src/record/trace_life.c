#include "config.h"
#include "record/trace_life.h"
#include "record/attachments.h"

#include <stdlib.h>

struct trace *trace_new(struct run *run, pid_t pid, const struct arch *arch)
{
	struct trace *trace = xcalloc(1, sizeof(*trace));

	*trace = (struct trace){
		.run = run, .pid = pid, .arch = arch, .output.fd = -1, .output.view_end = -1, .next = run->traces};
	run->traces = trace;
	return trace;
}

void trace_free(struct trace *trace)
{
	struct trace **link = &trace->run->traces;

	while (*link != trace)
		link = &(*link)->next;
	*link = trace->next;
	for (unsigned i = 0; i < trace->contexts.count; i++)
		free(trace->contexts.names[i]);
	attachments_free(trace);
	areas_free(&trace->output.areas);
	free(trace->output.path);
	free(trace->origin.exe);
	free(trace->origin.name);
	free(trace);
}

void trace_copy_contexts(const struct trace *from, struct trace *to)
{
	to->contexts = from->contexts;
	for (unsigned i = 0; i < to->contexts.count; i++)
		to->contexts.names[i] = xstrdup(from->contexts.names[i]);
}
