/* Restores the code of the traced processes by the journal, after the engine (E) was killed. */
#include "config.h"
#include "engine/rescue_code.h"
#include "engine/cpus.h"
#include "proc/proc.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void rescue_pin(struct shared_state *shared)
{
	const pid_t tid = atomic_load(&shared->pinned);

	if (tid)
		cpus_put_back(tid, shared->pinned_cpu, &shared->pinned_mask);
}

/* Returns 1 if the original bytes were restored, 0 if the breakpoint is not in memory, -1 if writing failed. */
static int rescue_note(const struct guard_note *note, unsigned size, int fd)
{
	unsigned char there[ARCH_BREAKPOINT_MAX];
	const ssize_t got = pread(fd, there, size, (off_t)note->address);

	/* The process has ended, the object is unmapped, or the breakpoint was removed. */
	if (got != (ssize_t)size || memcmp(there, note->breakpoint, size))
		return 0;
	return pwrite(fd, note->original, size, (off_t)note->address) == (ssize_t)size ? 1 : -1;
}

/* Restores the text where the journal has notes of breakpoints, in one space or in all (GUARD_NONE). Writes through
 * `fd`; -1: through the space's own descriptor. Returns the number of restored breakpoints, and adds the number of
 * failures to *failed. */
static size_t rescue_notes(const struct shared_state *shared, const struct guard_spaces *spaces, uint32_t space, int fd,
			   size_t *failed)
{
	size_t count = atomic_load(&shared->note_high), restored = 0;

	if (count > GUARD_NOTES)
		count = GUARD_NOTES; /* the engine may have died after writing to wrong addresses */
	for (size_t i = 0; i < count; i++) {
		const struct guard_note *const note = &shared->notes[i];
		const unsigned size = atomic_load_explicit(&note->size, memory_order_acquire);

		if (!size || size > sizeof(note->original) || (space != GUARD_NONE && note->space != space))
			continue;
		const int memory = fd >= 0 ? fd : note->space < spaces->count ? spaces->fds[note->space] : -1;
		const int result = memory < 0 ? 0 : rescue_note(note, size, memory);

		restored += result > 0;
		*failed += result < 0;
	}
	return restored;
}

/* Restores the text of fork's children that have no space of their own yet, by the notes of the space that they have
 * borrowed. */
static size_t rescue_loans(const struct shared_state *shared, const struct guard_spaces *spaces, size_t *failed)
{
	size_t restored = 0;

	for (size_t i = 0; i < GUARD_LOANS; i++) {
		const struct guard_loan *const loan = &shared->loans[i];
		const pid_t pid = atomic_load_explicit(&loan->pid, memory_order_acquire);

		if (pid <= 0)
			continue;
		const int fd = proc_open(pid, "mem", O_RDWR);

		if (fd < 0)
			continue;
		restored += rescue_notes(shared, spaces, loan->space, fd, failed);
		close(fd);
	}
	return restored;
}

size_t rescue_code(struct shared_state *shared, const struct guard_spaces *spaces, size_t *failed)
{
	rescue_pin(shared);
	*failed = 0;
	const size_t restored = rescue_notes(shared, spaces, GUARD_NONE, -1, failed);

	return restored + rescue_loans(shared, spaces, failed);
}
