#include "config.h"
#include "scan/care.h"
#include "proc/proc.h"
#include "symbols/maps.h"

#include <string.h>
#include <time.h>

/* A thread that does nothing but malloc() and free() is outside for a tenth to a thirtieth of the time. */
#define RUNS_MAX   400
#define PASSES_MAX 4 /* who waits for another's lock gets it in a later pass */
#define TIME_NS    2000000000ull

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

/* Where it may be in malloc. */
static bool is_inside(struct task *task, const struct maps *maps)
{
	const struct arch *arch = task->process->arch;
	long number;

	if (!task->stopped || task_regs(task) < 0)
		return false;
	if (hold_in_syscall(task, &number))
		return is_heap_call(arch, number);
	const struct mapping *m = maps_find(maps, arch->pc(&task->regs));

	return m && m->exec && is_c_library(m->path);
}

/* Runs it until it is out. One that sleeps in a system call where it slept before waits for another's lock. */
static void leave(struct hold *hold, struct task *task, const struct maps *maps, uint64_t end)
{
	unsigned asleep = 0;

	for (unsigned i = 0; i < RUNS_MAX && asleep < 3 && is_inside(task, maps) && clock_ns(CLOCK_MONOTONIC) < end;
	     i++) {
		if (!hold_run(hold, task))
			return;
		asleep = hold_in_syscall(task, NULL) ? asleep + 1 : 0;
	}
}

size_t care_leave_c(struct hold *hold)
{
	const uint64_t end = clock_ns(CLOCK_MONOTONIC) + TIME_NS;
	struct maps maps;
	size_t inside = 1;

	if (maps_read(proc_live_thread(hold->process.pid), &maps))
		return 0;
	for (unsigned pass = 0; pass < PASSES_MAX && inside; pass++) {
		FOR_EACH_TASK(task, &hold->process)
			leave(hold, task, &maps, end);
		inside = 0;
		FOR_EACH_TASK(task, &hold->process)
			inside += is_inside(task, &maps);
	}
	maps_free(&maps);
	return inside;
}
