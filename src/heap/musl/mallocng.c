/* Reads the heap of musl's malloc from 1.2.1 on ("mallocng"). Its structures are in musl's
 * src/malloc/mallocng/meta.h and glue.h.
 *
 * A struct meta describes a group of up to 32 slots of one size; the group points back to its meta. Metas are in
 * pages of their own. Each such page begins with a secret number, which is also in the allocator's variables. A
 * group can be in a slot of another group. A meta has two bit masks: slots that can be allocated, and slots that
 * were released. A slot in neither mask is in use. The bytes before a block and at its slot's end say where in the
 * slot the block begins, and how long it is. */
#include "config.h"
#include "heap/musl/musl.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

#define UNIT        16u
#define SLOT_REST   4u /* bytes at a slot's end that belong to no block */
#define PAGE        4096u
#define CLASS_ALONE 63 /* size class of a block with a mapping of its own */

static const uint16_t size_classes[] = {
	1,   2,   3,   4,    5,    6,    7,    8,    9,    10,   12,   15,   18,   20,   25,   31,
	36,  42,  50,  63,   72,   84,   102,  127,  146,  170,  204,  255,  292,  340,  409,  511,
	584, 682, 818, 1023, 1169, 1364, 1637, 2047, 2340, 2730, 3276, 4095, 4680, 5460, 6552, 8191,
};

struct mallocng_group {
	uint64_t start, end; /* `start`: address of the group's header, which has UNIT bytes */
	uint64_t stride;
	uint32_t unused; /* bit mask with a bit for each slot; 1: the slot is not in use */
	unsigned slots;
	bool is_inner; /* true if the group is in a slot of another group */
};

struct musl {
	struct heap *heap;
	unsigned word;
	uint64_t context, head_at, secret;
	struct mallocng_group *groups;
	size_t count, capacity;
};

/* ---- The variables ---- */

/* Returns true if a struct malloc_context is at address `at`. The struct begins with the secret, an int, a counter and
 * five words; if the kernel may use pages of several sizes, the page size is a sixth word. The addresses of the first
 * and the last page of metas follow, at offset head_at. */
static bool is_context(void *context, uint64_t at, uint64_t word)
{
	struct musl *const m = context;
	struct words *const words = &m->heap->words;
	const uint64_t secret = number_or_0(words, at, 8);

	(void)word;
	if (!secret)
		return false;
	for (unsigned has_size = 0; has_size <= 1; has_size++) {
		const uint64_t head_at = 16 + (5 + has_size) * m->word;
		const uint64_t head = word_or_0(words, at + head_at);

		/* Two other variables may happen to be a number and the address of a page that begins with this number.
		 * It is improbable that a third one is the address of such a page, too. */
		if (!head || head % PAGE || number_or_0(words, head, 8) != secret)
			continue;
		const uint64_t last = word_or_0(words, at + head_at + m->word);

		if (!last || last % PAGE || number_or_0(words, last, 8) != secret)
			continue;
		m->context = at;
		m->head_at = head_at;
		m->secret = secret;
		return true;
	}
	return false;
}

/* ---- Groups ---- */

static bool mallocng_take_group(struct musl *m, uint64_t meta)
{
	struct heap *heap = m->heap;
	struct words *const words = &heap->words;
	uint64_t start, word, back;

	if (!word_at(words, meta + 2 * m->word, &start) || !word_at(words, meta + 3 * m->word + 8, &word))
		return inconsistent(heap, "the description of a group cannot be read");
	if (!start)
		return true;
	const unsigned class = word >> 6 & 63, slots = (unsigned)(word & 31) + 1;
	const uint64_t pages = word >> 12;
	const uint32_t free = int_or_0(words, meta + 3 * m->word);
	const uint32_t released = int_or_0(words, meta + 3 * m->word + 4);
	const uint32_t all = slots == 32 ? UINT32_MAX : (1u << slots) - 1;

	if (class >= ARRAY_SIZE(size_classes) && (class != CLASS_ALONE || !pages || slots != 1))
		return inconsistent(heap, "a group has an impossible size");
	const bool is_alone = slots == 1 && pages;
	const uint64_t stride = is_alone ? pages * PAGE - UNIT : UNIT * size_classes[class];

	if (!word_at(words, start, &back) || back != meta || start % UNIT)
		return inconsistent(heap, "a group does not refer to its own description");
	if ((free & released) || ((free | released) & ~all))
		return inconsistent(heap, "a group's masks of unused slots are wrong");
	const uint64_t size = pages ? pages * PAGE : UNIT + stride * slots;

	if (size < UNIT + stride * slots || start + size < start || !heap_has_memory(heap->image, start, start + size))
		return inconsistent(heap, "a group has less memory than it says");
	ARRAY_GROW(m->groups, m->capacity, m->count);
	m->groups[m->count++] = (struct mallocng_group){
		.start = start, .end = start + size, .stride = stride, .unused = free | released, .slots = slots};
	return true;
}

static bool take_areas(struct musl *m)
{
	struct words *const words = &m->heap->words;
	const uint64_t last = word_or_0(words, m->context + m->head_at + m->word);
	const uint64_t size = 3 * m->word + 8 + m->word, first = m->word == 8 ? 24 : 16;
	uint64_t next;
	struct list_walk walk = {0};

	for (uint64_t area = word_or_0(words, m->context + m->head_at);; area = next) {
		const uint64_t count = int_or_0(words, area + 8 + m->word);

		if (list_leads_back(&walk, area) || area % PAGE || number_or_0(words, area, 8) != m->secret ||
		    !word_at(words, area + 8, &next) || !bytes_at(words, area + 8 + m->word, 4) ||
		    count > (PAGE - first) / size)
			return inconsistent(m->heap, "the list of pages of group descriptions is damaged");
		for (uint64_t i = 0; i < count; i++)
			if (!mallocng_take_group(m, area + first + i * size))
				return false;
		if (area == last)
			return !next || inconsistent(m->heap, "the list of group descriptions has a wrong end");
		if (!next)
			return inconsistent(m->heap, "the list of group descriptions has a wrong end");
	}
}

static int mallocng_compare_groups(const void *one, const void *two)
{
	const struct mallocng_group *a = one, *b = two;

	return a->start < b->start ? -1 : a->start > b->start ? 1 : a->end > b->end ? -1 : a->end < b->end;
}

/* Returns the index of the first group that begins at an address or later. */
static size_t group_from(const struct musl *m, uint64_t address)
{
	return address ? COUNT_UP_TO(m->groups, m->count, .start, address - 1) : 0;
}

/* Sorts the groups by address. Adds a region for each group, except for groups inside others. */
static bool sort_groups(struct musl *m)
{
	uint64_t end = 0;

	if (m->count)
		qsort(m->groups, m->count, sizeof(*m->groups), mallocng_compare_groups);
	for (size_t i = 0; i < m->count; i++) {
		struct mallocng_group *group = &m->groups[i];

		group->is_inner = group->start < end;
		if (group->is_inner && group->end > end)
			return inconsistent(m->heap, "two groups overlap");
		if (group->is_inner)
			continue;
		end = group->end;
		region_add(m->heap, &(struct region){.start = group->start, .begin = group->start, .end = end});
		m->heap->figures.arena += end - group->start;
	}
	return true;
}

/* ---- Blocks ---- */

/* Returns true if the bytes before a block are correct. They contain the number of the block's slot, the number of
 * unused bytes at the slot's end if there are fewer than five, and the distance of the block from the group's first
 * slot, in units. Only the slot and the distance are checked. */
static bool is_block(struct musl *m, const struct mallocng_group *group, unsigned slot, uint64_t block)
{
	struct words *const words = &m->heap->words;
	const uint64_t units = (block - group->start) / UNIT - 1;
	uint64_t offset = number_or_0(words, block - 2, 2);

	if (number_or_0(words, block - 4, 1))
		offset = offset ? 0 : number_or_0(words, block - 8, 4);
	return (number_or_0(words, block - 3, 1) & 31) == slot && offset == units;
}

static bool mallocng_add_block(struct musl *m, const struct mallocng_group *group, unsigned slot)
{
	struct heap *heap = m->heap;
	struct words *const words = &heap->words;
	const uint64_t start = group->start + UNIT + slot * group->stride, end = start + group->stride - SLOT_REST;
	/* If the block does not begin at the start of its slot, the block's offset in the slot is stored in the bytes
	 * before the slot. */
	const bool is_moved = number_or_0(words, start - 3, 1) == 7u << 5;
	uint64_t block = start + (is_moved ? UNIT * number_or_0(words, start - 2, 2) : 0);

	/* aligned_alloc() stores only the low 16 bits of the offset, so all offsets with these low bits are tried. */
	while (is_moved && block < end && !is_block(m, group, slot, block))
		block += UNIT << 16;
	uint64_t left = number_or_0(words, block - 3, 1) >> 5;

	if (block >= end || !is_block(m, group, slot, block))
		return inconsistent(heap, "a slot in use has no block");
	if (left >= 5)
		left = number_or_0(words, end - 4, 4);
	if (left > end - block)
		return inconsistent(heap, "a block is longer than its slot");
	heap->figures.uordblks += group->stride;
	block_add(heap, block, end - block - left, HEAP_LOST);
	return true;
}

static bool has_group(const struct musl *m, const struct mallocng_group *group, unsigned slot)
{
	const uint64_t start = group->start + UNIT + slot * group->stride;
	const size_t i = group_from(m, start);

	return i < m->count && m->groups[i].start < start + group->stride;
}

static bool take_blocks(struct musl *m)
{
	for (size_t i = 0; i < m->count; i++)
		for (unsigned slot = 0; slot < m->groups[i].slots; slot++)
			if (!(m->groups[i].unused >> slot & 1) && !has_group(m, &m->groups[i], slot) &&
			    !mallocng_add_block(m, &m->groups[i], slot))
				return false;
	blocks_sort(m->heap);
	m->heap->figures.fordblks = m->heap->figures.arena - m->heap->figures.uordblks;
	return true;
}

enum heap_status musl_read(struct heap *heap)
{
	struct musl m = {.heap = heap, .word = heap->image->arch->pointer_size};

	if (!heap_find_variable(heap->image, is_context, &m))
		return HEAP_NOT_FOUND;
	const bool good = take_areas(&m) && sort_groups(&m) && take_blocks(&m);

	free(m.groups);
	if (!good)
		return HEAP_INCONSISTENT;
	return blocks_index(heap) ? HEAP_READ : HEAP_TOO_LARGE;
}
