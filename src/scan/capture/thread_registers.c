#include "config.h"
#include "scan/capture/thread_registers.h"
#include "scan/capture/leave_allocator.h"
#include "proc/proc.h"
#include "proc/process_search.h"

#include <stdlib.h>
#include <string.h>

#define VECTORS_MAX 16384 /* maximum number of bytes of vector registers, including x86's tiles */

void scan_thread_add_words(struct heap_thread *thread, const unsigned char *bytes, size_t size, const struct arch *arch)
{
	const unsigned width = arch->pointer_size;
	uint64_t *words =
		xreallocarray((uint64_t *)(uintptr_t)thread->words, thread->n_words + size / width + 1, sizeof(*words));

	for (size_t i = 0; i + width <= size; i += width)
		words[thread->n_words++] = arch_pointer(arch, bytes + i);
	thread->words = words;
}

static void read_stopped(struct scan_threads *threads, struct task *task, struct heap_thread *thread)
{
	long number;
	const struct arch *arch = task->process->arch;
	_Alignas(16) unsigned char vectors[VECTORS_MAX];

	if (task_regs(task) < 0)
		return;
	thread->pc = arch->registers.pc(&task->regs);
	thread->sp = arch->registers.sp(&task->regs);
	thread->in_syscall = freeze_in_syscall(task, &number);
	thread->is_outside = thread->in_syscall && !is_malloc_syscall(arch, number);
	threads->asleep += thread->is_outside;
	task_thread_pointer(task, &thread->thread_pointer);
	scan_thread_add_words(thread, (const unsigned char *)&task->regs, arch->registers.size, arch);
	scan_thread_add_words(thread, vectors, task_vectors(task, vectors, sizeof(vectors)), arch);
}

static void read_moving(struct heap_thread *thread)
{
	long number;

	thread->in_syscall = proc_syscall_at(thread->tid, &number, &thread->pc, &thread->sp);
}

static void thread_registers_clear(struct scan_threads *threads)
{
	threads->asleep = 0;
	while (threads->count)
		free((uint64_t *)(uintptr_t)threads->items[--threads->count].words);
}

static struct heap_thread *thread_registers_add(struct scan_threads *threads, pid_t tid)
{
	ARRAY_GROW(threads->items, threads->capacity, threads->count);
	struct heap_thread *thread = &threads->items[threads->count++];

	*thread = (struct heap_thread){.tid = tid};
	return thread;
}

void scan_threads_add(struct scan_threads *threads, struct task *task)
{
	struct heap_thread *thread = thread_registers_add(threads, task->tid);

	if (task->stopped)
		read_stopped(threads, task, thread);
	else
		read_moving(thread);
}

void scan_threads_replace(struct scan_threads *threads, uint64_t sp, const uint64_t *words, size_t count)
{
	struct heap_thread *const thread = &threads->items[threads->count - 1];
	uint64_t *const copy = xcalloc(count + 1, sizeof(*copy));

	memcpy(copy, words, count * sizeof(*copy));
	free((uint64_t *)(uintptr_t)thread->words);
	thread->words = copy;
	thread->n_words = count;
	thread->sp = sp;
	thread->in_syscall = thread->is_outside = thread->is_ending = true;
}

void scan_threads_find_others(struct scan_threads *threads, pid_t pid)
{
	free(threads->others);
	threads->others = processes_in_memory(pid, &threads->other_count);
}

void scan_threads_read(struct scan_threads *threads, struct frozen_process *frozen)
{
	thread_registers_clear(threads);
	FOR_EACH_TASK(task, &frozen->process)
		scan_threads_add(threads, task);
	threads->sharers = 0;
	for (size_t i = 0; i < threads->other_count; i++) {
		/* The child of a posix_spawn(3) may have executed its program since it was found. */
		if (!processes_share_memory(threads->others[i], frozen->process.pid))
			continue;
		read_moving(thread_registers_add(threads, proc_live_thread(threads->others[i])));
		threads->sharers++;
	}
}

size_t scan_threads_unknown(const struct scan_threads *threads)
{
	size_t unknown = 0;

	for (size_t i = 0; i < threads->count; i++)
		unknown += !threads->items[i].words;
	return unknown;
}

void scan_threads_free(struct scan_threads *threads)
{
	thread_registers_clear(threads);
	free(threads->items);
	free(threads->others);
}
