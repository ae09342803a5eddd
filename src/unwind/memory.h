/* What a walk can read of the tracee: the snapshot's bytes, then pages through its read(). */
#ifndef FT_UNWIND_MEMORY_H
#define FT_UNWIND_MEMORY_H

#include "unwind/unwind.h"

#include <string.h>

#define MEMORY_WINDOW 4096

/* One walk's memory. The bytes that read() brought are kept until the walk ends (memory_begin of the next one). */
struct stack_memory {
	const struct stack_snapshot *snapshot;
	uint64_t start; /* the snapshot's bytes */
	size_t size;
	const unsigned char *bytes;
	unsigned char pointer_size;
	uint64_t mask;   /* of an address, as wide as the tracee's are */
	bool swap;       /* the tracee's byte order is not ours */
	unsigned budget; /* slow reads left: bounds what a hostile stack can cost */
	unsigned next;   /* the window to be replaced next */
	struct {
		uint64_t start;
		size_t size;
		unsigned char bytes[MEMORY_WINDOW];
	} windows[4];
};

/* Begins a walk. The snapshot must stay where it is until the next begin. */
void memory_begin(struct stack_memory *memory, const struct stack_snapshot *snapshot);

/* A register's value plus a number, as the tracee would have computed it: every address and register that unwinding
 * comes to is one of these, or a word of memory. */
static inline uint64_t memory_sum(const struct stack_memory *memory, uint64_t value, int64_t offset)
{
	return (value + (uint64_t)offset) & memory->mask;
}

/* For what memory_read and memory_word do not find in the snapshot. */
bool memory_read_slow(struct stack_memory *memory, uint64_t address, void *data, size_t size);

/* Reads exactly `size` bytes (at most MEMORY_WINDOW); false if not all of them can be read. */
static inline bool memory_read(struct stack_memory *memory, uint64_t address, void *data, size_t size)
{
	const uint64_t offset = address - memory->start;

	if (__builtin_expect(offset < memory->size && memory->size - offset >= size, 1)) {
		memcpy(data, memory->bytes + offset, size);
		return true;
	}
	return memory_read_slow(memory, address, data, size);
}

/* memory_read() as a struct arch_memory's read, whose context is the struct stack_memory. 0 or -EFAULT. */
int stack_memory_read(void *memory, uint64_t address, void *data, size_t size);

/* An unsigned number of `size` bytes (1, 2, 4, 8) in the tracee's byte order. */
bool memory_number(struct stack_memory *memory, uint64_t address, unsigned size, uint64_t *value);

/* A pointer of the tracee's. */
static inline bool memory_word(struct stack_memory *memory, uint64_t address, uint64_t *value)
{
	if (__builtin_expect(memory->pointer_size == sizeof(*value) && !memory->swap, 1))
		return memory_read(memory, address, value, sizeof(*value));
	return memory_number(memory, address, memory->pointer_size, value);
}

#endif
