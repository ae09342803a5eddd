#include "config.h"
#include "scan/capture/leave_allocator.h"
#include "heap/allocator_code.h"
#include "proc/proc.h"
#include "ptrace/target_memory.h"
#include "symbols/objects/maps.h"

#include <string.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <time.h>

#define TIME_NS    200000000ull
#define TRIES_MAX  8
#define CALL_WORDS 32 /* words at the top of a stack that are searched for a return address */

/* The location of the allocator's code. */
struct code {
	struct maps maps;
	const char *object; /* path of an object that contains such code, besides the C library; or NULL */
};

static bool is_heap_call(const struct arch *arch, long number)
{
	return arch_has_call(arch->syscalls.heap, ARCH_HEAP_CALLS, number);
}

bool is_malloc_syscall(const struct arch *arch, long number)
{
	return is_heap_call(arch, number) || arch_has_call(arch->syscalls.futex, ARCH_FUTEX_CALLS, number);
}

/* Returns the mapping that contains the code which the task runs, or NULL. */
static const struct mapping *leave_mapping_of(const struct code *code, struct task *task)
{
	if (!task->stopped || task_regs(task) < 0)
		return NULL;
	const struct mapping *m = maps_find(&code->maps, task->process->arch->registers.pc(&task->regs));

	return m && m->exec ? m : NULL;
}

/* Returns true if the task runs code of the C library, or of the allocator's object. */
static bool is_in_code(void *context, struct task *task)
{
	const struct code *code = context;
	const struct mapping *m = freeze_in_syscall(task, NULL) ? NULL : leave_mapping_of(code, task);

	return m && (code_is_c_library(m->path) || (code->object && !strcmp(m->path, code->object)));
}

static ssize_t leave_read_at(pid_t tid, uint64_t address, void *to, size_t size)
{
	struct iovec local = {to, size}, remote = {(void *)(uintptr_t)address, size};

	return process_vm_readv(tid, &local, 1, &remote, 1, 0);
}

static bool is_of_object(const struct code *code, uint64_t address)
{
	const struct mapping *m = maps_find(&code->maps, address);

	return m && m->exec && !strcmp(m->path, code->object);
}

/* Returns true if, according to the words at the top of the stack, the allocator's object has called the function that
 * makes the current system call, or that reads the clock in the vdso without a system call. */
static bool is_called_by_object(const struct code *code, struct task *task)
{
	const struct arch *const arch = task->process->arch;
	unsigned char stack[CALL_WORDS * sizeof(uint64_t)];

	const struct mapping *m = code->object ? leave_mapping_of(code, task) : NULL;

	if (!m || (strcmp(m->path, "[vdso]") != 0 && !freeze_in_syscall(task, NULL)))
		return false;
	const ssize_t got =
		leave_read_at(task->tid, align_down(arch->registers.sp(&task->regs), 8), stack, sizeof(stack));

	for (ssize_t at = 0; at + arch->pointer_size <= got; at += arch->pointer_size)
		if (is_of_object(code, arch_pointer(arch, stack + at)))
			return true;
	return false;
}

/* Returns true if the task is in the allocator's code (is_in_code(), is_called_by_object()), or in a system call of a
 * kind that malloc makes. Most threads in such a call are outside malloc, because a thread that waits for anything
 * usually calls futex. */
static bool is_inside(void *context, struct task *task)
{
	long number;

	return (task->stopped && freeze_in_syscall(task, &number) && is_malloc_syscall(task->process->arch, number)) ||
	       is_in_code(context, task) || is_called_by_object(context, task);
}

static size_t leave_count(struct frozen_process *frozen, bool (*is_chosen)(void *context, struct task *task),
			  struct code *code)
{
	size_t chosen = 0;

	FOR_EACH_TASK(task, &frozen->process)
		chosen += is_chosen(code, task);
	return chosen;
}

static bool is_in_glibc_code(void *context, struct task *task)
{
	const struct mapping *m = leave_mapping_of(context, task);
	long number;

	return m && code_is_c_library(m->path) && !strstr(m->path, "musl") &&
	       (!freeze_in_syscall(task, &number) || is_malloc_syscall(task->process->arch, number));
}

/* Returns true if the task begins a system call during which the heap is consistent: one that malloc does not make, or
 * one by which glibc's malloc gets memory (before it changes the heap) or returns memory (after all changes). */
static bool begins_resize(void *context, struct task *task)
{
	const struct arch *const arch = task->process->arch;
	long number;

	(void)context;
	return freeze_begins_call(task, &number) &&
	       (arch_has_call(arch->syscalls.resize, ARCH_RESIZE_CALLS, number) || !is_malloc_syscall(arch, number));
}

/* Runs the only thread of a process to the start of a system call during which the heap is consistent. Returns true if
 * the thread is there. With one thread, glibc's malloc takes no lock that could be watched. And an interrupt does not
 * help if the thread does nothing but allocate: nearly always it is in the kernel, which provides memory for malloc. */
static bool leave_alone(struct frozen_process *frozen, struct code *code)
{
	return frozen->process.task_count == 1 && !code->object &&
	       freeze_run_to_calls(frozen, UINT64_MAX, is_in_glibc_code, begins_resize, code) &&
	       frozen->process.task_count == 1 && begins_resize(code, frozen->process.tasks);
}

/* Lets threads run until they have left the code of the C library and of `object`. Threads in a system call run only
 * after all others have left this code, because a lock for which they wait is then free. */
size_t leave_allocator_code(struct frozen_process *frozen, const char *object)
{
	const uint64_t end = clock_ns(CLOCK_MONOTONIC) + TIME_NS;
	struct code code = {.object = object};
	size_t inside = 0;

	if (freeze_is_grouped(frozen) || maps_read(proc_live_thread(frozen->process.pid), &code.maps))
		return 0;
	for (unsigned i = 0; i < TRIES_MAX && !leave_alone(frozen, &code); i++) {
		while (freeze_run(frozen, is_in_code, &code) && clock_ns(CLOCK_MONOTONIC) < end)
			;
		inside = leave_count(frozen, is_in_code, &code);
		if (inside || !freeze_run(frozen, is_inside, &code))
			break;
		inside = leave_count(frozen, is_in_code, &code);
	}
	maps_free(&code.maps);
	return inside;
}

/* ---- By locks ---- */

#define STACK_TOP 2048 /* bytes of stack in which malloc's functions store the address of the arena that they use */

/* Values of a lock of the C library. "Contended" means that other threads may wait for the lock. A thread that
 * releases a contended lock calls the kernel to wake one waiter, without checking whether there is any. */
#define LOCK_HELD      1u
#define LOCK_CONTENDED 2u

struct locks {
	const struct frozen_process *frozen;
	const uint64_t *all;
	size_t count;
	uint64_t *held;
	size_t held_count;
	/* held locks whose address is in a register, or near the top of the stack, of the thread that will run */
	uint64_t *own;
	size_t own_count;
};

static uint32_t lock_word(pid_t tid, uint64_t lock)
{
	uint32_t word;

	return leave_read_at(tid, lock, &word, sizeof(word)) == sizeof(word) ? word : 0;
}

static void read_locks(struct frozen_process *frozen, struct locks *locks)
{
	const pid_t tid = proc_live_thread(frozen->process.pid);

	locks->held_count = 0;
	for (size_t i = 0; i < locks->count; i++)
		if (lock_word(tid, locks->all[i]))
			locks->held[locks->held_count++] = locks->all[i];
}

static void note_own(struct locks *locks, const struct arch *arch, const void *words, ssize_t size)
{
	const unsigned char *const bytes = words;

	for (size_t k = 0; k < locks->held_count; k++)
		for (ssize_t at = 0; at + arch->pointer_size <= size; at += arch->pointer_size)
			if (arch_pointer(arch, bytes + at) == locks->held[k]) {
				locks->own[locks->own_count++] = locks->held[k];
				break;
			}
}

/* Finds the locks that the thread may hold, because their address is in a register or near the top of the stack. */
static void find_own(struct locks *locks, struct task *task)
{
	const struct arch *const arch = task->process->arch;
	unsigned char stack[STACK_TOP];

	locks->own_count = 0;
	if (task_regs(task) < 0)
		return;
	note_own(locks, arch, &task->regs, (ssize_t)arch->registers.size);
	if (!locks->own_count)
		note_own(
			locks, arch, stack,
			leave_read_at(task->tid, align_down(arch->registers.sp(&task->regs), 8), stack, sizeof(stack)));
}

/* Prepares a thread to run. Returns false if it holds no lock, or may not run. A thread that does nothing but allocate
 * holds its lock most of the time, while the kernel provides memory, so nearly each interrupt finds the lock held.
 * Therefore the lock is marked as contended, and the thread makes a futex call when it releases the lock:
 *
 *	all stopped, A holds the lock: 1 | functrace writes 2 | A runs alone, releases: 0, FUTEX_WAKE | A stops there
 *
 * There is no other effect, even if functrace is killed, because the call wakes no thread. But a lock may be marked
 * only while all threads are stopped and no new thread can appear:
 *
 *	functrace reads 1 | a child of A's vfork, in A's memory, releases: 0 | functrace writes 2 | all wait for ever
 *
 * In this case A itself is deep in the kernel and cannot be stopped (frozen->moving), so nothing is written. scan.c
 * uses no locks if another process is in A's memory. A thread at the start of a system call by which malloc neither
 * gets nor returns memory does not run, because the call may be clone. */
static bool begin_turn(void *context, struct task *task)
{
	const uint32_t contended = LOCK_CONTENDED;
	struct locks *locks = context;
	bool has_any = false;
	long number;

	if (freeze_begins_call(task, &number) && !is_heap_call(task->process->arch, number))
		return false;
	find_own(locks, task);
	for (size_t i = 0; i < locks->own_count; i++) {
		const uint32_t word = lock_word(task->tid, locks->own[i]);

		if (word == LOCK_HELD && !locks->frozen->moving)
			memory_write_protected(task->tid, locks->own[i], &contended, sizeof(contended));
		has_any |= word != 0;
	}
	return has_any;
}

/* Returns true if the thread has released one of its locks, or begins a system call that malloc does not use to get or
 * return memory. At such a call, the thread waits for a lock, or is outside malloc. */
static bool has_let_go(void *context, struct task *task)
{
	const struct locks *locks = context;
	long number;

	if (freeze_begins_call(task, &number) && !is_heap_call(task->process->arch, number))
		return true;
	for (size_t i = 0; i < locks->own_count; i++)
		if (!lock_word(task->tid, locks->own[i]))
			return true;
	return false;
}

size_t leave_allocator_locks(struct frozen_process *frozen, const uint64_t *all, size_t count)
{
	const uint64_t end = clock_ns(CLOCK_MONOTONIC) + TIME_NS;
	struct locks locks = {.frozen = frozen,
			      .all = all,
			      .count = count,
			      .held = xcalloc(count, sizeof(*locks.held)),
			      .own = xcalloc(count, sizeof(*locks.own))};

	do
		read_locks(frozen, &locks);
	while (locks.held_count && freeze_run_to_calls(frozen, end, begin_turn, has_let_go, &locks) &&
	       clock_ns(CLOCK_MONOTONIC) < end);
	free(locks.held);
	free(locks.own);
	return locks.held_count;
}

/* ---- By locks that cannot be marked as contended ---- */

#define FUTEX_ROUND 4u /* only every FUTEX_ROUND-th round runs threads in a futex call, which may take long */

static bool may_change(void *context, struct task *task)
{
	const unsigned *round = context;
	const struct arch *const arch = task->process->arch;
	long number;

	return task_regs(task) == 0 && (!freeze_in_syscall(task, &number) || is_heap_call(arch, number) ||
					(*round % FUTEX_ROUND == FUTEX_ROUND - 1 && is_malloc_syscall(arch, number)));
}

size_t leave_allocator_wait(struct frozen_process *frozen, const uint64_t *all, size_t count)
{
	const uint64_t end = clock_ns(CLOCK_MONOTONIC) + TIME_NS;
	struct locks locks = {.all = all, .count = count, .held = xcalloc(count, sizeof(*locks.held))};

	for (unsigned round = 0;; round++) {
		read_locks(frozen, &locks);
		if (!locks.held_count || freeze_is_grouped(frozen) || clock_ns(CLOCK_MONOTONIC) >= end)
			break;
		freeze_run(frozen, may_change, &round);
	}
	free(locks.held);
	return locks.held_count;
}
