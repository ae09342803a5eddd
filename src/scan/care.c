#include "config.h"
#include "scan/care.h"
#include "proc/proc.h"
#include "symbols/maps.h"

#include <string.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <time.h>

#define TIME_NS   200000000ull
#define TRIES_MAX 4

static bool is_c_library(const char *path)
{
	const char *name = path_name(path);

	return !strncmp(name, "libc.so", 7) || !strncmp(name, "libc-2", 6) || !strncmp(name, "ld-musl-", 8);
}

static bool is_heap_call(const struct arch *arch, long number)
{
	for (size_t i = 0; i < ARCH_HEAP_CALLS && arch->heap_calls[i]; i++)
		if (arch->heap_calls[i] == number)
			return true;
	return false;
}

/* Whether it runs code of the C library. */
static bool is_in_code(void *maps, struct task *task)
{
	if (!task->stopped || task_regs(task) < 0 || hold_in_syscall(task, NULL))
		return false;
	const struct mapping *m = maps_find(maps, task->process->arch->pc(&task->regs));

	return m && m->exec && is_c_library(m->path);
}

/* Or is in a system call that malloc makes. Most of those wait for something else: a futex is what everybody waits by.
 * */
static bool is_inside(void *maps, struct task *task)
{
	long number;

	return (task->stopped && hold_in_syscall(task, &number) && is_heap_call(task->process->arch, number)) ||
	       is_in_code(maps, task);
}

static size_t count(struct hold *hold, bool (*is_chosen)(void *maps, struct task *task), struct maps *maps)
{
	size_t chosen = 0;

	FOR_EACH_TASK(task, &hold->process)
		chosen += is_chosen(maps, task);
	return chosen;
}

/* Threads in a system call move only when all others are out, for a lock that they wait for is free then. */
size_t care_leave_c(struct hold *hold)
{
	const uint64_t end = clock_ns(CLOCK_MONOTONIC) + TIME_NS;
	struct maps maps;
	size_t inside = 0;

	if (hold_is_grouped(hold) || maps_read(proc_live_thread(hold->process.pid), &maps))
		return 0;
	for (unsigned i = 0; i < TRIES_MAX; i++) {
		while (hold_run(hold, is_in_code, &maps) && clock_ns(CLOCK_MONOTONIC) < end)
			;
		inside = count(hold, is_in_code, &maps);
		if (inside || !hold_run(hold, is_inside, &maps))
			break;
		inside = count(hold, is_in_code, &maps);
	}
	maps_free(&maps);
	return inside;
}

/* ---- By locks ---- */

#define STACK_TOP 2048 /* bytes in which the functions of malloc keep the address of the arena that they work on */

struct locks {
	const uint64_t *all;
	size_t count;
	uint64_t *held;
	size_t held_count;
};

static ssize_t read_at(pid_t tid, uint64_t address, void *to, size_t size)
{
	struct iovec local = {to, size}, remote = {(void *)(uintptr_t)address, size};

	return process_vm_readv(tid, &local, 1, &remote, 1, 0);
}

static void read_locks(struct hold *hold, struct locks *locks)
{
	const pid_t tid = proc_live_thread(hold->process.pid);
	uint32_t word;

	locks->held_count = 0;
	for (size_t i = 0; i < locks->count; i++)
		if (read_at(tid, locks->all[i], &word, sizeof(word)) == sizeof(word) && word)
			locks->held[locks->held_count++] = locks->all[i];
}

static bool has_lock(const struct locks *locks, const uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < locks->held_count; k++)
			if (words[i] == locks->held[k])
				return true;
	return false;
}

static bool may_hold(void *context, struct task *task)
{
	const struct locks *locks = context;
	uint64_t stack[STACK_TOP / sizeof(uint64_t)];

	if (!task->stopped || task_regs(task) < 0)
		return false;
	if (has_lock(locks, task->regs.words, task->process->arch->regset_size / sizeof(uint64_t)))
		return true;
	const ssize_t got =
		read_at(task->tid, align_down(task->process->arch->sp(&task->regs), 8), stack, sizeof(stack));

	return got > 0 && has_lock(locks, stack, (size_t)got / sizeof(*stack));
}

size_t care_leave_locks(struct hold *hold, const uint64_t *all, size_t count)
{
	const uint64_t end = clock_ns(CLOCK_MONOTONIC) + TIME_NS;
	struct locks locks = {.all = all, .count = count, .held = xcalloc(count, sizeof(*locks.held))};

	do
		read_locks(hold, &locks);
	while (locks.held_count && hold_run(hold, may_hold, &locks) && clock_ns(CLOCK_MONOTONIC) < end);
	free(locks.held);
	return locks.held_count;
}
