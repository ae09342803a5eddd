#include "config.h"
#include "record/trace.h"

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

struct event event_copy(const struct event *e)
{
	struct event copy = *e;

	copy.thread = thread_ref(e->thread);
	copy.args = arg_list_ref(e->args);
	copy.frames = frames_copy(e->frames, e->frame_count);
	return copy;
}

void event_free(struct event *e)
{
	free(e->frames);
	thread_unref(e->thread);
	arg_list_unref(e->args);
	*e = (struct event){0};
}

/* Adds the members of a struct that contains only uint64_t. size: in bytes. */
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
