/* The target's memory for a walk: first the snapshot's bytes, else bytes that are read by the snapshot's read(). */
#ifndef FT_UNWIND_UNWIND_MEMORY_H
#define FT_UNWIND_UNWIND_MEMORY_H

#include "unwind/unwind.h"

#include <string.h>

#define MEMORY_WINDOW 4096

/* The memory of one walk. Bytes from read() are kept until the next unwind_memory_begin(). */
struct stack_memory {
	const struct stack_snapshot *snapshot;
	uint64_t start; /* address of the snapshot's bytes; `size` is their number */
	size_t size;
	const unsigned char *bytes;
	unsigned char pointer_size;
	uint64_t mask;   /* mask with the width of the target's addresses */
	bool swap;       /* true if the target's byte order differs from functrace's */
	unsigned budget; /* number of slow reads left, which limits the cost of a hostile stack */
	unsigned next;   /* index of the window that is replaced next */
	struct {
		uint64_t start;
		size_t size;
		unsigned char bytes[MEMORY_WINDOW];
	} windows[4];
};

/* Begins a walk. The snapshot must stay valid until the next unwind_memory_begin(). */
void unwind_memory_begin(struct stack_memory *memory, const struct stack_snapshot *snapshot);

/* Adds an offset to a register's value modulo the width of the target's addresses, as the target's processor does.
 * Every address and register that unwinding computes is such a sum, or a word of memory. */
static inline uint64_t unwind_memory_sum(const struct stack_memory *memory, uint64_t value, int64_t offset)
{
	return (value + (uint64_t)offset) & memory->mask;
}

/* Reads bytes that unwind_memory_read() and unwind_memory_word() do not find in the snapshot. */
bool unwind_memory_read_slow(struct stack_memory *memory, uint64_t address, void *data, size_t size);

/* Reads exactly `size` bytes (at most MEMORY_WINDOW). Returns false if not all of them can be read. */
static inline bool unwind_memory_read(struct stack_memory *memory, uint64_t address, void *data, size_t size)
{
	const uint64_t offset = address - memory->start;

	if (__builtin_expect(offset < memory->size && memory->size - offset >= size, 1)) {
		memcpy(data, memory->bytes + offset, size);
		return true;
	}
	return unwind_memory_read_slow(memory, address, data, size);
}

/* Does the same as unwind_memory_read(), with the signature of `read` in struct arch_memory. memory: the struct
 * stack_memory. Returns 0 or -EFAULT. */
int stack_memory_read(void *memory, uint64_t address, void *data, size_t size);

/* Reads an unsigned number of `size` bytes (1, 2, 4, 8) in the target's byte order. */
bool unwind_memory_number(struct stack_memory *memory, uint64_t address, unsigned size, uint64_t *value);

/* Reads a pointer of the target's size. */
static inline bool unwind_memory_word(struct stack_memory *memory, uint64_t address, uint64_t *value)
{
	if (__builtin_expect(memory->pointer_size == sizeof(*value) && !memory->swap, 1))
		return unwind_memory_read(memory, address, value, sizeof(*value));
	return unwind_memory_number(memory, address, memory->pointer_size, value);
}

#endif
