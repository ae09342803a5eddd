/* The guard: a journal of breakpoints and of traced tasks, in memory that the engine (E) shares with the guardian (G),
 * and the guardian's descriptors of the tracees' memory.
 *
 * When the engine is killed, its tracer thread stays stopped at its exit event, which the guardian traces (guardian.c).
 * Until that thread is released, it still traces all tasks, and rescue_code.c restores the text by the journal. Then
 * rescue_tasks.c corrects the stopped tasks, as far as possible: a SIGTRAP that the kernel has already queued kills a
 * program that has no handler for it. */
#include "config.h"
#include "engine/shared_state.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void guard_init(struct engine *engine)
{
	struct guard *const guard = &engine->guard;

	guard->first_free = guard->last_free = GUARD_NONE;
	guard->free_journal_task = GUARD_NONE;
	guard->spaces = xcalloc(GUARD_SPACES, sizeof(*guard->spaces));
	guard->used = xcalloc(GUARD_SPACES, sizeof(*guard->used));
}

void guard_free(struct engine *engine)
{
	free(engine->guard.spaces);
	free(engine->guard.used);
}

int guard_add_space(struct engine *engine, int mem_fd)
{
	struct guard *const guard = &engine->guard;
	uint32_t space = 0;

	while (space < guard->space_high && guard->used[space])
		space++;
	if (space == GUARD_SPACES || message_send(engine->link, MESSAGE_ADD_SPACE, space, mem_fd))
		return -1;
	if (space == guard->space_high)
		guard->space_high++;
	guard->used[space] = true;
	guard->spaces[space] = GUARD_NONE;
	return (int)space;
}

/* Frees the note, but keeps its address, because a task may have hit the breakpoint before the breakpoint was
 * removed. */
static void note_free(struct engine *engine, uint32_t index)
{
	struct guard *const guard = &engine->guard;
	struct guard_note *const notes = engine->shared->notes;

	atomic_store_explicit(&notes[index].size, 0, memory_order_release);
	notes[index].next = GUARD_NONE;
	if (guard->last_free == GUARD_NONE)
		guard->first_free = index;
	else
		notes[guard->last_free].next = index;
	guard->last_free = index;
	guard->free_count++;
}

/* Returns the index of a free note; GUARD_NONE if all are in use. */
static uint32_t note_take(struct engine *engine)
{
	struct guard *const guard = &engine->guard;
	struct shared_state *const shared = engine->shared;
	const uint32_t high = atomic_load(&shared->note_high), index = guard->first_free;

	if (high < GUARD_NOTES && guard->free_count < GUARD_REST) {
		atomic_store(&shared->note_high, high + 1);
		return high;
	}
	if (index == GUARD_NONE)
		return GUARD_NONE;
	guard->first_free = shared->notes[index].next;
	if (guard->first_free == GUARD_NONE)
		guard->last_free = GUARD_NONE;
	guard->free_count--;
	return index;
}

void guard_remove_space(struct engine *engine, int space)
{
	struct guard *const guard = &engine->guard;

	if (space < 0 || (uint32_t)space >= guard->space_high || !guard->used[space])
		return;
	for (uint32_t index = guard->spaces[space]; index != GUARD_NONE;) {
		const uint32_t next = engine->shared->notes[index].next;

		note_free(engine, index);
		index = next;
	}
	guard->spaces[space] = GUARD_NONE;
	/* The id stays in use until the message to the guardian has been sent; otherwise the guardian could use the old
	 * space's descriptor for a new space with this id. */
	if (!message_send(engine->link, MESSAGE_REMOVE_SPACE, (uint32_t)space, -1))
		guard->used[space] = false;
}

long guard_note(struct engine *engine, int space, uint64_t address, const unsigned char *original,
		const unsigned char *breakpoint, unsigned size)
{
	struct guard *const guard = &engine->guard;
	struct shared_state *const shared = engine->shared;

	if (space < 0 || (uint32_t)space >= guard->space_high || !guard->used[space] || !size ||
	    size > ARCH_BREAKPOINT_MAX)
		return -1;
	const uint32_t index = note_take(engine);

	if (index == GUARD_NONE)
		return -1;
	struct guard_note *const note = &shared->notes[index];
	const uint32_t next = guard->spaces[space];

	note->address = address;
	note->space = (uint32_t)space;
	note->next = next;
	note->previous = GUARD_NONE;
	if (next != GUARD_NONE)
		shared->notes[next].previous = index;
	guard->spaces[space] = index;
	memcpy(note->original, original, size);
	memcpy(note->breakpoint, breakpoint, size);
	atomic_store_explicit(&note->size, (unsigned char)size, memory_order_release);
	return (long)index;
}

void guard_clear(struct engine *engine, long journal_index)
{
	struct shared_state *const shared = engine->shared;

	if (journal_index < 0 || journal_index >= (long)atomic_load(&shared->note_high))
		return;
	const uint32_t index = (uint32_t)journal_index;
	struct guard_note *const note = &shared->notes[index];

	if (!atomic_load(&note->size))
		return;
	if (note->next != GUARD_NONE)
		shared->notes[note->next].previous = note->previous;
	if (note->previous != GUARD_NONE)
		shared->notes[note->previous].next = note->next;
	else
		engine->guard.spaces[note->space] = note->next;
	note_free(engine, index);
}

int guard_lend(struct engine *engine, int space, pid_t pid)
{
	struct guard *const guard = &engine->guard;
	uint32_t loan = 0;

	while (loan < guard->loan_high && atomic_load_explicit(&engine->shared->loans[loan].pid, memory_order_relaxed))
		loan++;
	if (space < 0 || loan == GUARD_LOANS)
		return -1;
	if (loan == guard->loan_high)
		guard->loan_high++;
	engine->shared->loans[loan].space = (uint32_t)space;
	atomic_store_explicit(&engine->shared->loans[loan].pid, pid, memory_order_release);
	return (int)loan;
}

void guard_lend_end(struct engine *engine, int loan)
{
	if (loan >= 0 && (uint32_t)loan < engine->guard.loan_high)
		atomic_store_explicit(&engine->shared->loans[loan].pid, 0, memory_order_release);
}

void guard_spaces_set(struct guard_spaces *spaces, uint32_t space, int fd)
{
	if (space >= GUARD_SPACES) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (space >= spaces->count) {
		const size_t count = spaces->count ? spaces->count * 2 : 16;
		const size_t wanted = count > space ? count : (size_t)space + 1;

		spaces->fds = xreallocarray(spaces->fds, wanted, sizeof(*spaces->fds));
		while (spaces->count < wanted)
			spaces->fds[spaces->count++] = -1;
	}
	if (spaces->fds[space] >= 0)
		close(spaces->fds[space]);
	spaces->fds[space] = fd;
}

void guard_spaces_free(struct guard_spaces *spaces)
{
	for (size_t i = 0; i < spaces->count; i++)
		if (spaces->fds[i] >= 0)
			close(spaces->fds[i]);
	free(spaces->fds);
	*spaces = (struct guard_spaces){0};
}

void guard_note_pin(struct engine *engine, pid_t tid, int cpu, const cpu_set_t *mask)
{
	struct shared_state *const shared = engine->shared;

	if (tid) {
		shared->pinned_mask = *mask;
		shared->pinned_cpu = cpu;
	}
	atomic_store(&shared->pinned, tid);
}

/* ---- Tasks ---- */

int guard_add_task(struct engine *engine, pid_t tid)
{
	struct guard *const guard = &engine->guard;
	struct shared_state *const shared = engine->shared;
	uint32_t journal_task = guard->free_journal_task;

	if (!shared)
		return -1;
	if (journal_task != GUARD_NONE)
		guard->free_journal_task = shared->journal_tasks[journal_task].next;
	else if ((journal_task = atomic_load(&shared->journal_task_high)) < JOURNAL_TASKS)
		atomic_store(&shared->journal_task_high, journal_task + 1);
	else
		return -1;
	shared->journal_tasks[journal_task].status = 0;
	atomic_store_explicit(&shared->journal_tasks[journal_task].tid, tid, memory_order_release);
	return (int)journal_task;
}

void guard_remove_task(struct engine *engine, int journal_task)
{
	if (journal_task < 0)
		return;
	struct journal_task *const left = &engine->shared->journal_tasks[journal_task];

	atomic_store_explicit(&left->tid, 0, memory_order_release);
	left->next = engine->guard.free_journal_task;
	engine->guard.free_journal_task = (uint32_t)journal_task;
}

int guard_status(int code, int status)
{
	switch (code) {
	case CLD_EXITED:
		return (status & 0xff) << 8;
	case CLD_KILLED:
		return status;
	case CLD_DUMPED:
		return status | WCOREFLAG;
	default:
		return status << 8 | 0x7f;
	}
}

/* Uses waitid() because the kernel then writes the stopped task's pid into memory that the guardian can read, before
 * the engine executes another instruction. So a SIGKILL of the engine cannot lose a stop that the kernel has returned.
 * Uses the bare system call because the library's function is a cancellation point, which takes time before and after
 * each wait. */
pid_t guard_wait(struct engine *engine, pid_t which, int flags, int *status)
{
	siginfo_t *const taken = &engine->shared->taken;

	taken->si_pid = 0;
	if (syscall(SYS_waitid, which < 0 ? P_ALL : P_PID, which, taken, WEXITED | __WALL | flags, NULL) < 0)
		return -1;
	if (taken->si_pid)
		*status = guard_status(taken->si_code, taken->si_status);
	return taken->si_pid;
}

void guard_took(struct engine *engine, int journal_task, int status)
{
	struct shared_state *const shared = engine->shared;

	if (journal_task >= 0) {
		shared->journal_tasks[journal_task].pc = 0;
		shared->journal_tasks[journal_task].status = status;
	}
	atomic_signal_fence(memory_order_release);
	shared->taken.si_pid = 0;
}

void guard_saw(struct engine *engine, int journal_task, uint64_t pc, uint64_t sp)
{
	if (journal_task < 0)
		return;
	struct journal_task *const its = &engine->shared->journal_tasks[journal_task];

	its->sp = sp;
	atomic_signal_fence(memory_order_release);
	its->pc = pc;
}

void guard_note_syscall(struct engine *engine, pid_t tid, const struct arch_regs *regs, uint64_t mask)
{
	struct shared_state *const shared = engine->shared;

	if (tid) {
		shared->borrowed_regs = *regs;
		shared->borrowed_mask = mask;
	}
	atomic_store(&shared->borrowed, tid);
}
