/* Determines which allocator an image contains, and calls that allocator's reader. */
#include "config.h"
#include "heap/allocator_code.h"
#include "heap/glibc/glibc.h"
#include "heap/jemalloc/jemalloc.h"
#include "heap/mimalloc/mimalloc.h"
#include "heap/musl/musl.h"
#include "base/util.h"

#include <stdlib.h>

#define LOCKS_MAX 4096 /* maximum number of locks that heap_is_locked() checks */

static struct heap heap_begin(const struct heap_image *image)
{
	const struct arch_malloc *const layout = &image->arch->malloc;

	return (struct heap){.image = image,
			     .words = {.image = image, .width = image->arch->pointer_size},
			     .layout = layout->word ? layout : NULL};
}

static enum heap_status glibc_read(struct heap *heap)
{
	if (!arenas_find(heap))
		return heap->reason ? HEAP_INCONSISTENT : HEAP_NOT_FOUND;
	if (!arenas_regions(heap) || !walk_regions(heap) || !mmapped_find(heap) || !tcaches_find(heap))
		return HEAP_INCONSISTENT;
	heap->figures.uordblks = heap->figures.arena - heap->figures.fordblks;
	heap->header_before = header_size(heap->layout);
	return blocks_make(heap) ? HEAP_READ : HEAP_TOO_LARGE;
}

static size_t glibc_locks(struct heap *heap, uint64_t *addresses, size_t most)
{
	size_t count = 0;

	if (arenas_find(heap))
		for (; count < heap->glibc.arena_count && count < most; count++)
			addresses[count] = heap->glibc.arenas[count].start;
	return count;
}

/* The known allocators. Allocators that are separate libraries come first, because a program that uses such a library
 * contains the C library's malloc, too, with few blocks or none. */
static const struct {
	const char *name;
	/* Reads the heap. Returns HEAP_NOT_FOUND, with *heap unchanged, if the heap is that of another allocator. */
	enum heap_status (*read)(struct heap *heap);
	/* Does the same as heap_locks(). NULL if the allocator has no locks. */
	size_t (*locks)(struct heap *heap, uint64_t *addresses, size_t most);
	/* Returns the address of one of the allocator's variables, or 0 if the image does not contain the variable.
	 * `variable` is NULL if the allocator is the C library's own. */
	uint64_t (*variable)(struct heap *heap);
	/* true if a counter beside the lock, not the lock itself, says whether other threads wait for the lock */
	bool has_plain_locks;
} allocators[] = {
	{"jemalloc", jemalloc_read, jemalloc_locks, jemalloc_variable, false},
	{"mimalloc", mimalloc_read, NULL, mimalloc_variable, false},
	{"glibc", glibc_read, glibc_locks, NULL, false},
	{"musl", musl_read, NULL, NULL, false},
	{"musl", musl_old_read, musl_old_locks, NULL, true},
};

static enum heap_status heap_read_any(struct heap *heap)
{
	enum heap_status status = HEAP_NOT_FOUND;

	if (!heap->layout) {
		heap->reason = "the program is made for a processor that this functrace does not know";
		return HEAP_UNSUPPORTED;
	}
	for (size_t i = 0; i < ARRAY_SIZE(allocators) && status == HEAP_NOT_FOUND; i++) {
		heap->allocator = allocators[i].name;
		status = allocators[i].read(heap);
	}
	return status;
}

enum heap_status heap_read_placed(const struct heap_image *image, struct heap **result, const char **reason,
				  uint64_t *place)
{
	struct heap *heap = xcalloc(1, sizeof(*heap));

	*heap = heap_begin(image);
	const enum heap_status status = heap_read_any(heap);

	*reason = heap->reason;
	*place = heap->place;
	*result = NULL;
	if (status == HEAP_READ)
		*result = heap;
	else
		heap_free(heap);
	return status;
}

enum heap_status heap_read(const struct heap_image *image, struct heap **result, const char **reason)
{
	uint64_t place;

	return heap_read_placed(image, result, reason, &place);
}

size_t heap_locks(const struct heap_image *image, uint64_t *addresses, size_t most, bool *can_be_marked)
{
	struct heap heap = heap_begin(image);
	size_t count = 0;

	for (size_t i = 0; heap.layout && i < ARRAY_SIZE(allocators) && !count; i++) {
		count = allocators[i].locks ? allocators[i].locks(&heap, addresses, most) : 0;
		if (can_be_marked)
			*can_be_marked = !allocators[i].has_plain_locks;
	}
	free(heap.glibc.arenas);
	return count;
}

bool heap_is_locked(const struct heap_image *image)
{
	uint64_t locks[LOCKS_MAX];
	struct words words = {.image = image, .width = image->arch->pointer_size};
	const size_t count = image->n_threads > 1 ? heap_locks(image, locks, LOCKS_MAX, NULL) : 0;

	for (size_t i = 0; i < count; i++)
		if (int_or_0(&words, locks[i]))
			return true;
	return false;
}

const char *heap_object(const struct heap_image *image)
{
	struct heap heap = heap_begin(image);
	uint64_t variable = 0;

	for (size_t i = 0; heap.layout && i < ARRAY_SIZE(allocators) && !variable; i++)
		variable = allocators[i].variable ? allocators[i].variable(&heap) : 0;
	return variable ? code_object(image, variable) : NULL;
}

void heap_free(struct heap *heap)
{
	if (!heap)
		return;
	for (size_t i = 0; i < heap->region_count; i++)
		free(heap->regions[i].by_page);
	free(heap->regions);
	free(heap->glibc.arenas);
	free(heap->glibc.tops);
	free(heap->blocks);
	free(heap->reach.ways);
	hash_free(&heap->large);
	free(heap->reach.roots);
	free(heap->reach.leads);
	free(heap->excluded.ignored);
	free(heap->excluded.own);
	starts_free(&heap->starts);
	free(heap);
}

const char *heap_allocator(const struct heap *heap)
{
	return heap->allocator;
}

uint64_t heap_usable_size(const char *allocator, unsigned word, uint64_t size)
{
	const uint64_t least = 32, mapped = 128 << 10;

	if (!strcmp(allocator, "jemalloc") && word == 8) {
		for (unsigned class = 0; size && class < JEMALLOC_SIZES; class ++)
			if (jemalloc_size(class) >= size)
				return jemalloc_size(class);
		return 0;
	}
	/* glibc's malloc.c: chunks of multiples of 16 bytes, of which one word is not the block's. Larger ones may be
	 * mappings of their own, of whole pages. */
	if (strcmp(allocator, "glibc") != 0 || size >= mapped)
		return 0;
	const uint64_t chunk = (size + word + 15) & ~UINT64_C(15);

	return (word == 8 && chunk < least ? least : chunk) - word;
}

const struct heap_figures *heap_figures(const struct heap *heap)
{
	return &heap->figures;
}

size_t heap_count(const struct heap *heap)
{
	return heap->block_count;
}

struct heap_block heap_block(const struct heap *heap, size_t index)
{
	const struct block *const block = &heap->blocks[index];

	return (struct heap_block){.address = block_address(block),
				   .size = block_size(heap, block),
				   .class = (enum heap_class)block_state(block)};
}

void heap_way(const struct heap *heap, size_t index, uint32_t *root, uint32_t *from)
{
	*root = heap->reach.ways[index].root;
	*from = heap->reach.ways[index].from;
}

bool heap_has(const struct heap *heap, uint64_t address)
{
	return region_of(heap, arch_data_address(heap->image->arch, address)) != NULL;
}

uint64_t heap_root(const struct heap *heap, uint32_t root, pid_t *tid)
{
	*tid = heap->reach.roots[root].tid;
	return heap->reach.roots[root].address;
}
