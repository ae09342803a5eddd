/* Finds interior pointers by which programs refer to a block: C++ and some libraries put a header of their own at
 * the block's start and return the address after it. The kinds of such pointers are those of valgrind's
 * --leak-check-heuristics, which valgrind's manual describes. */
#include "config.h"
#include "heap/heap_private.h"
#include "base/util.h"

#include <string.h>

/* Returns an upper limit of the bytes in a block that the program did not ask for. */
static uint64_t unused_most(const struct heap *heap, const struct heap_block *block)
{
	/* glibc adds the rest of a chunk if it is too small to be another chunk, and the rest of a mapping's last
	 * page. Other allocators have only a few sizes between one power of two and the next. */
	const uint64_t share = block->size / (heap->glibc.arena_count ? 32 : 4), least = 2 * heap->layout->align - 1;

	return share > least ? share : least;
}

/* Returns true if a request for `size` bytes may have returned this block. */
static bool has_asked(const struct heap *heap, const struct heap_block *block, uint64_t size)
{
	return size <= block->size && block->size - size <= unused_most(heap, block);
}

/* Returns true if the block may be the result of new T[n] for a T with a destructor: n is in the word before the first
 * element. The size of an element is assumed to be a multiple of 4. If any size were allowed, one of them would fit
 * almost every small n. */
static bool is_array(struct heap *heap, const struct heap_block *block, uint64_t offset)
{
	const unsigned w = heap->layout->word;
	const uint64_t room = block->size - offset;
	const uint64_t count = offset == w ? word_or_0(&heap->words, block->address) : 0;
	const uint64_t unused = heap->glibc.arena_count ? heap->layout->align - 1 : block->size / 8;

	return count && count <= room / 4 && room % (4 * count) <= unused;
}

/* Does the same as is_array() for ARM's C++ ABI (IHI0041, 3.2.2), in which the size of an element precedes n. */
static bool is_sized_array(struct heap *heap, const struct heap_block *block, uint64_t offset)
{
	if (heap->layout->word != 4 || offset != 8)
		return false;
	const uint64_t size = word_or_0(&heap->words, block->address);
	const uint64_t count = word_or_0(&heap->words, block->address + 4);

	return size && count && size <= block->size && count <= block->size && has_asked(heap, block, 8 + size * count);
}

/* Returns true for a string of libstdc++ before C++11: length, capacity and reference count precede the text. */
static bool is_string(struct heap *heap, const struct heap_block *block, uint64_t offset)
{
	const unsigned w = heap->layout->word;

	if (offset != 3 * w)
		return false;
	const uint64_t length = word_or_0(&heap->words, block->address);
	const uint64_t capacity = word_or_0(&heap->words, block->address + w);

	return capacity && length <= capacity && capacity <= block->size &&
	       has_asked(heap, block, offset + capacity + 1);
}

/* Returns true if the block begins with a header of 8 bytes that contains the size of the rest, as sqlite's allocator
 * writes it. */
static bool interior_has_length(struct heap *heap, const struct heap_block *block, uint64_t offset)
{
	const unsigned char *bytes = offset == 8 ? bytes_at(&heap->words, block->address, 8) : NULL;
	const uint64_t length = bytes ? load_word(bytes, 8) : 0;

	return length && length <= block->size && has_asked(heap, block, 8 + length);
}

/* Returns true if an address is in constants that contain addresses, as vtables do. Their mapping is read-only, and the
 * variables of the same ELF file follow it. A C++ object points to the third word of its vtable, so the address must
 * not be in the mapping's first two words. */
static bool is_in_relro(const struct heap_image *image, uint64_t address)
{
	const struct heap_mapping *const m = image_mapping(image, address);
	const struct heap_mapping *const next = m ? m + 1 : NULL;

	return m && m->readable && !m->writable && !m->executable && m->path[0] == '/' &&
	       address - m->start >= 2 * image->arch->pointer_size && next < image->mappings + image->n_mappings &&
	       next->start == m->end && next->writable && !strcmp(next->path, m->path);
}

/* Returns true if a base class of a C++ object may begin at the offset: in an object of a class with several bases,
 * the data of each base begins with a pointer to a vtable. */
static bool interior_is_base(struct heap *heap, const struct heap_block *block, uint64_t offset)
{
	const unsigned w = heap->layout->word;
	uint64_t first, own;

	return offset % w == 0 && word_at(&heap->words, block->address, &first) &&
	       word_at(&heap->words, block->address + offset, &own) && first != own && first % w == 0 && own % w == 0 &&
	       is_in_relro(heap->image, first) && is_in_relro(heap->image, own);
}

bool interior_pointer_keeps(struct heap *heap, const struct heap_block *block, uint64_t pointer)
{
	const uint64_t offset = pointer - block->address;

	if (starts_there(heap, block, pointer))
		return true;
	if (!heap->layout || offset + heap->layout->word > block->size)
		return false;
	return is_array(heap, block, offset) || is_sized_array(heap, block, offset) || is_string(heap, block, offset) ||
	       interior_has_length(heap, block, offset) || interior_is_base(heap, block, offset);
}
