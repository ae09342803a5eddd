#include "config.h"
#include "calls/task_errno.h"
#include "calls/calls.h"
#include "ptrace/target_memory.h"
#include "ptrace/tasks.h"
#include "symbols/types/errno_place.h"

/* Returns a word of the target, extended with its sign to 64 bits. */
static int64_t signed_word(const struct arch *arch, uint64_t word)
{
	return arch->pointer_size == sizeof(int32_t) ? (int32_t)word : (int64_t)word;
}

/* Computes the distance from the thread pointer to errno. Returns false if the object does not show this, or if its GOT
 * slot is not filled yet. */
static bool task_errno_offset_of(struct process *p, const struct errno_place *place, int64_t *offset)
{
	uint64_t word;

	*offset = place->offset;
	if (place->kind != ERRNO_SLOT)
		return place->kind != ERRNO_NONE;
	if (memory_read_pointer(p, place->slot, &word) < 0 || word == place->unfilled)
		return false;
	*offset += signed_word(p->arch, word);
	return true;
}

/* Finds the distance from the thread pointer to errno. Prefers an object in which errno is a thread-local variable: a
 * library, or the program if it is static. Otherwise uses a library whose code (__errno_location()) shows that errno is
 * a field of the thread's data. Returns false if two libraries have an errno (a second C library, in a linker namespace
 * of its own), because it is unknown which of them the program uses. */
static bool find_offset(struct process *p, int64_t *offset)
{
	struct errno_place best = {.kind = ERRNO_NONE};
	unsigned count = 0;

	for (size_t i = 0; i < p->objects.count; i++) {
		const struct object *object = p->objects.items[i];
		const struct errno_place place = object_errno_place(object, p->arch);

		if (place.kind == ERRNO_NONE || (place.kind == ERRNO_VARIABLE && object != p->program))
			continue;
		if (count && (place.kind == ERRNO_FIELD) != (best.kind == ERRNO_FIELD)) {
			if (place.kind == ERRNO_FIELD)
				continue;
			count = 0;
		}
		best = place;
		count++;
	}
	return count == 1 && task_errno_offset_of(p, &best, offset);
}

bool task_errno(struct task *task, int *value)
{
	struct process *p = task->process;
	uint64_t pointer;
	int32_t number;

	if (!p->calls->errno_known)
		p->calls->errno_known = find_offset(p, &p->calls->errno_offset);
	if (!p->calls->errno_known || !task_thread_pointer(task, &pointer))
		return false;
	uint64_t at = pointer + (uint64_t)p->calls->errno_offset;

	if (p->arch->pointer_size == sizeof(uint32_t))
		at = (uint32_t)at;
	if (memory_read(p, at, &number, sizeof(number)) < 0)
		return false;
	*value = number;
	return true;
}
