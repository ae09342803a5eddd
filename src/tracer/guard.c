/* The guard: a journal of breakpoints in memory that V shares with E, and V's descriptors of the
 * tracees' memory. A dying process closes its files before the kernel lets go of its tracees, so V
 * learns of E's death just in time to write most of the text back before a task runs into a
 * breakpoint that nobody handles any more. A task that stands in a breakpoint's stop at that moment
 * cannot be helped: the kernel delivers its SIGTRAP. */
#include "config.h"
#include "tracer/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int guard_init(struct engine *engine)
{
	struct guard *const guard = &engine->guard;

	guard->free_note = GUARD_NONE;
	guard->spaces = xcalloc(GUARD_SPACES, sizeof(*guard->spaces));
	guard->used = xcalloc(GUARD_SPACES, sizeof(*guard->used));
	return 0;
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
	if (space == GUARD_SPACES || message_send(engine->socket, MESSAGE_ADD_SPACE, space, mem_fd))
		return -1;
	if (space == guard->space_high)
		guard->space_high++;
	guard->used[space] = true;
	guard->spaces[space] = GUARD_NONE;
	return (int)space;
}

static void note_free(struct engine *engine, uint32_t index)
{
	struct guard_note *const note = &engine->board->notes[index];

	atomic_store_explicit(&note->size, 0, memory_order_release);
	note->next = engine->guard.free_note;
	engine->guard.free_note = index;
}

void guard_remove_space(struct engine *engine, int space)
{
	struct guard *const guard = &engine->guard;

	if (space < 0 || (uint32_t)space >= guard->space_high || !guard->used[space])
		return;
	for (uint32_t index = guard->spaces[space]; index != GUARD_NONE;) {
		const uint32_t next = engine->board->notes[index].next;

		note_free(engine, index);
		index = next;
	}
	guard->spaces[space] = GUARD_NONE;
	/* While V cannot be told, the id stays taken: a new space under it would be written through
	 * the old descriptor. */
	if (!message_send(engine->socket, MESSAGE_REMOVE_SPACE, (uint32_t)space, -1))
		guard->used[space] = false;
}

long guard_note(struct engine *engine, int space, uint64_t address, const unsigned char *original,
		const unsigned char *breakpoint, unsigned size)
{
	struct guard *const guard = &engine->guard;
	struct board *const board = engine->board;
	uint32_t index = guard->free_note;

	if (space < 0 || (uint32_t)space >= guard->space_high || !guard->used[space] || !size ||
	    size > 4)
		return -1;
	if (index != GUARD_NONE)
		guard->free_note = board->notes[index].next;
	else if ((index = atomic_load(&board->note_high)) < GUARD_NOTES)
		atomic_store(&board->note_high, index + 1);
	else
		return -1;
	struct guard_note *const note = &board->notes[index];
	const uint32_t next = guard->spaces[space];

	note->address = address;
	note->space = (uint32_t)space;
	note->next = next;
	note->previous = GUARD_NONE;
	if (next != GUARD_NONE)
		board->notes[next].previous = index;
	guard->spaces[space] = index;
	memcpy(note->original, original, size);
	memcpy(note->breakpoint, breakpoint, size);
	atomic_store_explicit(&note->size, (unsigned char)size, memory_order_release);
	return (long)index;
}

void guard_clear(struct engine *engine, long ticket)
{
	struct board *const board = engine->board;

	if (ticket < 0 || ticket >= (long)atomic_load(&board->note_high))
		return;
	const uint32_t index = (uint32_t)ticket;
	struct guard_note *const note = &board->notes[index];

	if (!atomic_load(&note->size))
		return;
	if (note->next != GUARD_NONE)
		board->notes[note->next].previous = note->previous;
	if (note->previous != GUARD_NONE)
		board->notes[note->previous].next = note->next;
	else
		engine->guard.spaces[note->space] = note->next;
	note_free(engine, index);
}

int guard_lend(struct engine *engine, int space, pid_t pid)
{
	struct guard *const guard = &engine->guard;
	uint32_t loan = 0;

	while (loan < guard->loan_high && atomic_load_explicit(&engine->board->loans[loan].pid, memory_order_relaxed))
		loan++;
	if (space < 0 || loan == GUARD_LOANS)
		return -1;
	if (loan == guard->loan_high)
		guard->loan_high++;
	engine->board->loans[loan].space = (uint32_t)space;
	atomic_store_explicit(&engine->board->loans[loan].pid, pid, memory_order_release);
	return (int)loan;
}

void guard_lend_end(struct engine *engine, int loan)
{
	if (loan >= 0 && (uint32_t)loan < engine->guard.loan_high)
		atomic_store_explicit(&engine->board->loans[loan].pid, 0, memory_order_release);
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

void engine_note_pin(struct engine *engine, pid_t tid, int cpu, const cpu_set_t *mask)
{
	struct board *const board = engine->board;

	if (tid) {
		board->pinned_mask = *mask;
		board->pinned_cpu = cpu;
	}
	atomic_store(&board->pinned, tid);
}

static void repair_pin(struct board *board)
{
	const pid_t tid = atomic_load(&board->pinned);
	cpu_set_t now;

	if (tid && sched_getaffinity(tid, sizeof(now), &now) == 0 && CPU_COUNT(&now) == 1 &&
	    CPU_ISSET(board->pinned_cpu, &now))
		sched_setaffinity(tid, sizeof(board->pinned_mask), &board->pinned_mask);
}

/* 1: the original bytes are back, 0: they were there, or nothing is any more, -1: they could not be written. */
static int note_repair(const struct guard_note *note, unsigned size, int fd)
{
	unsigned char there[4];
	const ssize_t got = pread(fd, there, size, (off_t)note->address);

	/* Not there any more: the process has ended, the object is unmapped, the breakpoint
	 * was taken out. */
	if (got != (ssize_t)size || memcmp(there, note->breakpoint, size))
		return 0;
	return pwrite(fd, note->original, size, (off_t)note->address) == (ssize_t)size ? 1 : -1;
}

/* Of one space, or of all (GUARD_NONE); fd -1: the space's own descriptor. */
static size_t notes_repair(const struct board *board, const struct guard_spaces *spaces, uint32_t space, int fd,
			   size_t *failed)
{
	size_t count = atomic_load(&board->note_high), repaired = 0;

	if (count > GUARD_NOTES)
		count = GUARD_NOTES; /* E may have died of having written anywhere */
	for (size_t i = 0; i < count; i++) {
		const struct guard_note *const note = &board->notes[i];
		const unsigned size = atomic_load_explicit(&note->size, memory_order_acquire);

		if (!size || size > sizeof(note->original) || (space != GUARD_NONE && note->space != space))
			continue;
		const int memory = fd >= 0 ? fd : note->space < spaces->count ? spaces->fds[note->space] : -1;
		const int result = memory < 0 ? 0 : note_repair(note, size, memory);

		repaired += result > 0;
		*failed += result < 0;
	}
	return repaired;
}

/* Children that had made no call yet: one more look at the notes each. */
static size_t loans_repair(const struct board *board, const struct guard_spaces *spaces, size_t *failed)
{
	size_t repaired = 0;

	for (size_t i = 0; i < GUARD_LOANS; i++) {
		const struct guard_loan *const loan = &board->loans[i];
		const pid_t pid = atomic_load_explicit(&loan->pid, memory_order_acquire);
		char path[32];

		if (pid <= 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/mem", pid);
		const int fd = open(path, O_RDWR | O_CLOEXEC);

		if (fd < 0)
			continue;
		repaired += notes_repair(board, spaces, loan->space, fd, failed);
		close(fd);
	}
	return repaired;
}

size_t guard_repair(struct board *board, const struct guard_spaces *spaces, size_t *failed)
{
	repair_pin(board);
	*failed = 0;
	const size_t repaired = notes_repair(board, spaces, GUARD_NONE, -1, failed);

	return repaired + loans_repair(board, spaces, failed);
}
