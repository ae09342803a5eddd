/* Reads the target's memory for a walk; see unwind_memory.h. */
#include "config.h"
#include "unwind/unwind_memory.h"

#include "base/util.h"

#include <byteswap.h>
#include <errno.h>

/* Maximum number of slow reads in a walk. The limit is far above the need: 257 frames with a dozen saved registers each
 * take about 3,300. */
#define SLOW_READS_MAX 20000

void unwind_memory_begin(struct stack_memory *memory, const struct stack_snapshot *snapshot)
{
	const uint16_t probe = 1;
	const bool host_big_endian = *(const unsigned char *)&probe == 0;

	memory->snapshot = snapshot;
	memory->start = snapshot->address;
	memory->size = snapshot->bytes ? snapshot->size : 0;
	memory->bytes = snapshot->bytes;
	memory->pointer_size = snapshot->arch->pointer_size;
	memory->mask = memory->pointer_size == sizeof(uint32_t) ? UINT32_MAX : UINT64_MAX;
	memory->swap = snapshot->arch->big_endian != host_big_endian;
	memory->budget = SLOW_READS_MAX;
	for (size_t i = 0; i < ARRAY_SIZE(memory->windows); i++)
		memory->windows[i].size = 0;
}

static bool copy_from_windows(struct stack_memory *memory, uint64_t address, void *data, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(memory->windows); i++) {
		const uint64_t offset = address - memory->windows[i].start;

		if (offset < memory->windows[i].size && memory->windows[i].size - offset >= size) {
			memcpy(data, memory->windows[i].bytes + offset, size);
			return true;
		}
	}
	return false;
}

static bool read_exactly(const struct stack_snapshot *snapshot, uint64_t address, void *data, size_t size)
{
	const ssize_t got = snapshot->read(snapshot->context, address, data, size);

	return got >= 0 && (size_t)got == size;
}

/* Takes the bytes from a window that was read before, or reads a new window. A window begins a little below the
 * requested bytes, because registers are saved below the return address. It ends at the end of a page, so an unmapped
 * page after it does not make the read fail. */
bool unwind_memory_read_slow(struct stack_memory *memory, uint64_t address, void *data, size_t size)
{
	const struct stack_snapshot *snapshot = memory->snapshot;

	if (!size || size > MEMORY_WINDOW || address > UINT64_MAX - MEMORY_WINDOW || !memory->budget)
		return false;
	memory->budget--;
	if (copy_from_windows(memory, address, data, size))
		return true;
	if (!snapshot->read)
		return false;
	const unsigned slot = memory->next;
	const uint64_t page = align_down(address, MEMORY_WINDOW);
	const uint64_t start = address - page >= 256 ? align_down(address - 256, 8) : page;
	const size_t wanted = page + MEMORY_WINDOW - start;
	ssize_t got = snapshot->read(snapshot->context, start, memory->windows[slot].bytes, wanted);

	memory->windows[slot].size = got < 0 ? 0 : (size_t)got > wanted ? wanted : (size_t)got;
	memory->windows[slot].start = start;
	memory->next = (slot + 1) % ARRAY_SIZE(memory->windows);
	if (copy_from_windows(memory, address, data, size))
		return true;
	return read_exactly(snapshot, address, data, size);
}

int stack_memory_read(void *memory, uint64_t address, void *data, size_t size)
{
	struct stack_memory *const read = memory;

	return unwind_memory_read(read, unwind_memory_sum(read, address, 0), data, size) ? 0 : -EFAULT;
}

bool unwind_memory_number(struct stack_memory *memory, uint64_t address, unsigned size, uint64_t *value)
{
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	switch (size) {
	case 1:
		if (!unwind_memory_read(memory, address, &u8, sizeof(u8)))
			return false;
		*value = u8;
		return true;
	case 2:
		if (!unwind_memory_read(memory, address, &u16, sizeof(u16)))
			return false;
		*value = memory->swap ? bswap_16(u16) : u16;
		return true;
	case 4:
		if (!unwind_memory_read(memory, address, &u32, sizeof(u32)))
			return false;
		*value = memory->swap ? bswap_32(u32) : u32;
		return true;
	case 8:
		if (!unwind_memory_read(memory, address, &u64, sizeof(u64)))
			return false;
		*value = memory->swap ? bswap_64(u64) : u64;
		return true;
	default:
		return false;
	}
}
