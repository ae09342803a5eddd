#include "config.h"
#include "record/trace.h"
#include "record/attachments.h"
#include "record/run.h"

#include <stdlib.h>
#include <string.h>

struct thread *thread_new(pid_t tid, pid_t tgid)
{
	struct thread *thread = xcalloc(1, sizeof(*thread));

	*thread = (struct thread){.tid = tid, .tgid = tgid, .references = 1};
	return thread;
}

struct thread *thread_ref(struct thread *thread)
{
	if (thread)
		thread->references++;
	return thread;
}

void thread_unref(struct thread *thread)
{
	if (thread && !--thread->references)
		free(thread);
}

struct unwind_frame *frames_copy(const struct unwind_frame *frames, size_t count)
{
	struct unwind_frame *copy = count ? xreallocarray(NULL, count, sizeof(*copy)) : NULL;

	if (copy)
		memcpy(copy, frames, count * sizeof(*copy));
	return copy;
}

struct trace *trace_new(struct run *run, pid_t pid, const struct arch *arch)
{
	struct trace *trace = xcalloc(1, sizeof(*trace));

	*trace = (struct trace){.run = run, .pid = pid, .arch = arch, .fd = -1, .view_end = -1, .next = run->traces};
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
	areas_free(&trace->areas);
	free(trace->path);
	free(trace->exe);
	free(trace->name);
	free(trace);
}

void trace_copy_contexts(const struct trace *from, struct trace *to)
{
	to->contexts = from->contexts;
	for (unsigned i = 0; i < to->contexts.count; i++)
		to->contexts.names[i] = xstrdup(from->contexts.names[i]);
}

/* Structs of nothing but uint64_t. */
static void add_numbers(uint64_t *to, const uint64_t *from, size_t size)
{
	for (size_t i = 0; i < size / sizeof(*to); i++)
		to[i] += from[i];
}

void counts_add(struct counts *to, const struct counts *from)
{
	add_numbers((uint64_t *)to, (const uint64_t *)from, sizeof(*to));
}

void kind_counts_add(struct kind_counts *to, const struct kind_counts *from)
{
	add_numbers((uint64_t *)to, (const uint64_t *)from, sizeof(*to));
}
