/* Pointers into the midst of a block by which a program keeps it all the same: C++ and libraries hand out addresses
 * behind a header of theirs. They are the shapes that valgrind knows (its manual: --leak-check-heuristics). */
#include "config.h"
#include "heap/heap_private.h"
#include "base/util.h"

#include <string.h>

/* Of what malloc gave so much at most was not asked for. */
static uint64_t unused_most(const struct heap *heap, const struct heap_block *block)
{
	/* glibc leaves the rest of a chunk in it that is too small for another, and fills a mapping's last page; other
	 * allocators have some sizes between a power of two and the next one. */
	const uint64_t share = block->size / (heap->arena_count ? 32 : 4), least = 2 * heap->form->align - 1;

	return share > least ? share : least;
}

/* Whether a program that asked for so many bytes would have got this block. */
static bool has_asked(const struct heap *heap, const struct heap_block *block, uint64_t size)
{
	return size <= block->size && block->size - size <= unused_most(heap, block);
}

/* new T[n] of what has a destructor: the number is in the word before the first one. An element is taken to have whole
 * ints, for of small numbers any would do otherwise. */
static bool is_array(struct heap *heap, const struct heap_block *block, uint64_t offset)
{
	const unsigned w = heap->form->word;
	const uint64_t room = block->size - offset;
	const uint64_t count = offset == w ? word_or_0(&heap->words, block->address) : 0;
	const uint64_t unused = heap->arena_count ? heap->form->align - 1 : block->size / 8;

	return count && count <= room / 4 && room % (4 * count) <= unused;
}

/* The same where the size of an element comes before the number, as in ARM's C++ ABI (IHI0041, 3.2.2). */
static bool is_sized_array(struct heap *heap, const struct heap_block *block, uint64_t offset)
{
	if (heap->form->word != 4 || offset != 8)
		return false;
	const uint64_t size = word_or_0(&heap->words, block->address);
	const uint64_t count = word_or_0(&heap->words, block->address + 4);

	return size && count && size <= block->size && count <= block->size && has_asked(heap, block, 8 + size * count);
}

/* libstdc++'s strings before C++11: length, capacity, references, then the text. */
static bool is_string(struct heap *heap, const struct heap_block *block, uint64_t offset)
{
	const unsigned w = heap->form->word;

	if (offset != 3 * w)
		return false;
	const uint64_t length = word_or_0(&heap->words, block->address);
	const uint64_t capacity = word_or_0(&heap->words, block->address + w);

	return capacity && length <= capacity && capacity <= block->size &&
	       has_asked(heap, block, offset + capacity + 1);
}

/* Eight bytes with the size of the rest, as sqlite's allocator has them. */
static bool interior_has_length(struct heap *heap, const struct heap_block *block, uint64_t offset)
{
	const unsigned char *bytes = offset == 8 ? bytes_at(&heap->words, block->address, 8) : NULL;
	const uint64_t length = bytes ? load_word(bytes, 8) : 0;

	return length && length <= block->size && has_asked(heap, block, 8 + length);
}

/* Constants with addresses, as tables of virtual functions are: their object's variables follow. Two words of a table
 * lie before what objects point to (its offset in the object, its type). */
static bool is_in_relro(const struct heap_image *image, uint64_t address)
{
	const struct heap_mapping *const m = image_mapping(image, address);
	const struct heap_mapping *const next = m ? m + 1 : NULL;

	return m && m->readable && !m->writable && !m->executable && m->path[0] == '/' &&
	       address - m->start >= 2 * image->arch->pointer_size && next < image->mappings + image->n_mappings &&
	       next->start == m->end && next->writable && !strcmp(next->path, m->path);
}

/* An object of a class with several bases: the part of each begins with a pointer to its table. */
static bool interior_is_base(struct heap *heap, const struct heap_block *block, uint64_t offset)
{
	const unsigned w = heap->form->word;
	uint64_t first, own;

	return offset % w == 0 && word_at(&heap->words, block->address, &first) &&
	       word_at(&heap->words, block->address + offset, &own) && first != own && first % w == 0 && own % w == 0 &&
	       is_in_relro(heap->image, first) && is_in_relro(heap->image, own);
}

bool inner_keeps(struct heap *heap, const struct heap_block *block, uint64_t pointer)
{
	const uint64_t offset = pointer - block->address;

	if (starts_there(heap, block, pointer))
		return true;
	if (!heap->form || offset + heap->form->word > block->size)
		return false;
	return is_array(heap, block, offset) || is_sized_array(heap, block, offset) || is_string(heap, block, offset) ||
	       interior_has_length(heap, block, offset) || interior_is_base(heap, block, offset);
}
