/* Recognises links that glibc's malloc has left in blocks, and that the program has not overwritten. The first two
 * words of a free chunk point to the headers of its neighbours in a list; the next two words of a large chunk point
 * to chunks of other sizes:
 *
 *     {size of the previous chunk, size | flags} {forth, back} {forth, back by size}
 *
 * The address of a header is also the address of the last word of the previous block, or, after chunks were merged,
 * of any word of a block. The program may have pointers of its own to such a word. So a word is recognised as
 * malloc's link only if the words beside it and the memory that it points to confirm this. */
#include "config.h"
#include "heap/glibc/glibc.h"
#include "base/util.h"

#define LINKS      4 /* number of link words in a free chunk */
#define SMALL_BINS 64

/* Returns the number of the bin whose header is at an address, or 0. Bins are numbered from 1, as in malloc. */
static unsigned list_links_bin_at(const struct heap *heap, uint64_t address)
{
	const unsigned header = header_size(heap->layout);

	for (size_t i = 0; i < heap->glibc.arena_count; i++) {
		const uint64_t offset = address - (heap->glibc.arenas[i].bins - header);

		if (offset < bins_bytes(heap->layout))
			return offset % header ? 0 : (unsigned)(offset / header) + 1;
	}
	return 0;
}

/* Returns true if a bin may have chunks of this size. The first bin has chunks of all sizes. */
static bool has_bin_size(const struct heap *heap, unsigned bin, uint64_t size)
{
	const unsigned first = heap->layout->align > header_size(heap->layout) ? 1 : 0;

	return bin == 1 || (bin < SMALL_BINS ? size == (uint64_t)(bin - first) * heap->layout->align
					     : size >= (uint64_t)(SMALL_BINS - first) * heap->layout->align);
}

/* Returns true if an address can be that of a chunk's header. */
static bool list_links_is_header(const struct heap *heap, uint64_t address)
{
	const struct region *const region = region_of(heap, address);

	return region && !region->is_mapped && (address + header_size(heap->layout)) % heap->layout->align == 0;
}

/* Returns true if a word can be the size word of a chunk at `header`, even of a chunk that no longer exists. */
static bool is_size(const struct heap *heap, uint64_t header, uint64_t word)
{
	const struct region *const region = region_of(heap, header);
	const uint64_t size = SIZE_OF(word);

	return region && !(word & IS_MAPPED) && size >= chunk_min(heap->layout) && size % heap->layout->align == 0 &&
	       size <= region->end - header;
}

static bool is_large(const struct heap *heap, uint64_t size_word)
{
	return SIZE_OF(size_word) >= 128 * heap->words.width;
}

static bool list_links_is_link(const struct heap *heap, uint64_t word)
{
	return list_links_is_header(heap, word) || list_links_bin_at(heap, word);
}

struct pair {
	uint64_t forth, back;
};

static struct pair pair_at(struct heap *heap, uint64_t at)
{
	return (struct pair){word_or_0(&heap->words, at), word_or_0(&heap->words, at + heap->words.width)};
}

static bool is_pair(const struct heap *heap, struct pair pair)
{
	return list_links_is_link(heap, pair.forth) && list_links_is_link(heap, pair.back);
}

/* Returns true if the chunk at `header` was free at some time, according to its size and links. */
static bool was_free(struct heap *heap, uint64_t header)
{
	const unsigned w = heap->words.width;
	const uint64_t size_word = word_or_0(&heap->words, header + w);
	const struct pair by_size = pair_at(heap, header + 4 * w);

	if (!is_size(heap, header, size_word))
		return false;
	return is_pair(heap, pair_at(heap, header + 2 * w)) || (by_size.forth == header && by_size.back == header) ||
	       (is_large(heap, size_word) && is_pair(heap, by_size));
}

static bool has_same_size(struct heap *heap, uint64_t header, uint64_t size_word)
{
	return SIZE_OF(word_or_0(&heap->words, header + heap->words.width)) == SIZE_OF(size_word);
}

/* Returns true if the size before the next chunk, which malloc writes when it frees a chunk, is still there. */
static bool has_foot_at(struct heap *heap, uint64_t header, uint64_t size)
{
	return word_or_0(&heap->words, header + size) == size;
}

/* Returns true if the memory after a chunk confirms the chunk's size: malloc has written this size there, or another
 * chunk begins there, or began there. */
static bool has_end(struct heap *heap, uint64_t header)
{
	const unsigned w = heap->words.width;
	const uint64_t size = SIZE_OF(word_or_0(&heap->words, header + w));

	return has_foot_at(heap, header, size) ||
	       is_size(heap, header + size, word_or_0(&heap->words, header + size + w));
}

/* Returns true if a chunk that has a size and links may have begun at `header`. A struct of the program can have a
 * number and pointers where a chunk has its size and links. So inside of a block in use, the old chunk's end must
 * confirm the chunk, too. */
static bool may_have_begun(struct heap *heap, uint64_t header)
{
	const uint64_t block = header + header_size(heap->layout);
	const uint32_t index = heap_find(heap, block);

	return index == HEAP_NONE || block_address(&heap->blocks[index]) == block || has_end(heap, header);
}

/* A free chunk that may have been where the word is now. */
struct list_links_source {
	uint64_t header, size_word;
	bool is_block; /* true if the block with the word has this header; it is in use, so its size proves nothing */
	uint64_t end;  /* end of the block that contains the word */
};

/* Returns true if the size word can be a free chunk's: PREVIOUS_IN_USE is set, because the chunk before a free one is
 * always in use, and NOT_MAIN is clear. */
static bool is_free_size(const struct heap *heap, const struct list_links_source *source)
{
	return (source->size_word & (PREVIOUS_IN_USE | NOT_MAIN)) == PREVIOUS_IN_USE &&
	       is_size(heap, source->header, source->size_word);
}

/* Returns true if a word is a free chunk's link to the next or previous chunk of its list. One of the chunk's two links
 * may have been overwritten, by the program or by the header of a chunk that begins there now. */
static bool is_list_link(struct heap *heap, const struct list_links_source *source, uint64_t at, uint64_t word)
{
	const unsigned w = heap->words.width;
	const uint64_t first = source->header + 2 * w, size = SIZE_OF(source->size_word);
	const struct pair pair = pair_at(heap, first);
	const bool is_whole = is_pair(heap, pair), is_same = has_same_size(heap, word, source->size_word);

	if (!is_size(heap, source->header, source->size_word))
		return false;
	if (source->is_block)
		return is_whole && is_same && was_free(heap, word) && may_have_begun(heap, word);
	if (!is_free_size(heap, source))
		return false;
	const bool has_target = (is_same || was_free(heap, word)) && may_have_begun(heap, word);
	const unsigned bin = list_links_bin_at(heap, at == first ? pair.back : pair.forth);
	const bool has_foot = source->header + size + w <= source->end && has_foot_at(heap, source->header, size);
	const bool is_cut = at == first && first + 2 * w <= source->end && is_size(heap, first, pair.back);

	if (bin)
		return has_bin_size(heap, bin, size) && (bin > 1 || has_target);
	return is_whole ? has_foot || has_target : is_cut && has_target;
}

/* Returns true if a word is a link of a large chunk to a chunk of another size. If all chunks in the bin have the same
 * size, the chunk's links point to the chunk itself. */
static bool is_size_link(struct heap *heap, const struct list_links_source *source, uint64_t at, uint64_t word)
{
	const struct pair pair = pair_at(heap, source->header + 2 * header_size(heap->layout));

	(void)at;
	if (pair.forth == source->header && pair.back == source->header)
		return true;
	return !source->is_block && is_pair(heap, pair) && is_free_size(heap, source) && was_free(heap, word) &&
	       may_have_begun(heap, word);
}

bool link_is_of_malloc(struct heap *heap, const struct heap_block *block, uint64_t at, uint64_t word)
{
	const unsigned w = heap->words.width;

	for (unsigned i = 0; i < LINKS && list_links_is_header(heap, word); i++) {
		const uint64_t first = at - i * w;

		if (first < block->address || first % heap->layout->align)
			continue;
		const struct list_links_source source = {.header = first - header_size(heap->layout),
							 .size_word = word_or_0(&heap->words, first - w),
							 .is_block = first == block->address,
							 .end = block->address + block->size};

		if ((i < 2 ? is_list_link : is_size_link)(heap, &source, at, word))
			return true;
	}
	return false;
}
