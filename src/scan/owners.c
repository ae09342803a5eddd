#include "config.h"
#include "scan/owners.h"
#include "scan/places.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 30 /* of a way that are shown */

static void add_root(struct buf *out, const struct heap *heap, const struct heap_image *image, struct data_names *names,
		     uint32_t root, bool is_exact)
{
	pid_t tid;
	const uint64_t address = heap_root(heap, root, &tid);

	if (tid)
		buf_printf(out, "registers of thread %d", tid);
	else
		scan_place_add(out, names, image, address, is_exact);
}

struct owners {
	struct scan_owner *items;
	size_t count, capacity;
	struct hash by_name; /* hash of the name -> index + 1 */
};

static size_t owner_of(struct owners *owners, const char *name)
{
	uint64_t *place = hash_place(&owners->by_name, hash_bytes(name, strlen(name)));

	if (!*place) {
		ARRAY_GROW(owners->items, owners->capacity, owners->count);
		owners->items[owners->count] = (struct scan_owner){.name = xstrdup(name)};
		*place = ++owners->count;
	}
	return (size_t)*place - 1;
}

static int compare(const void *one, const void *two)
{
	const struct scan_owner *a = one, *b = two;

	if (a->sum.bytes != b->sum.bytes)
		return a->sum.bytes > b->sum.bytes ? -1 : 1;
	return strcmp(a->name, b->name);
}

struct scan_owner *scan_owners(const struct heap *heap, const struct heap_image *image, struct data_names *names,
			       size_t *count)
{
	size_t block_count;
	const struct heap_block *blocks = heap_blocks(heap, &block_count);
	struct owners owners = {0};
	struct hash by_root = {0}; /* root -> index + 1 */
	struct buf name = {0};

	for (size_t i = 0; i < block_count; i++) {
		if (blocks[i].root == HEAP_NONE)
			continue;
		uint64_t *place = hash_place(&by_root, blocks[i].root);

		if (!*place) {
			name.size = 0;
			add_root(&name, heap, image, names, blocks[i].root, false);
			*place = owner_of(&owners, buf_str(&name)) + 1;
		}
		struct scan_owner *owner = &owners.items[*place - 1];

		owner->sum.bytes += blocks[i].size;
		owner->sum.blocks++;
	}
	if (owners.count)
		qsort(owners.items, owners.count, sizeof(*owners.items), compare);
	hash_free(&by_root);
	hash_free(&owners.by_name);
	buf_free(&name);
	*count = owners.count;
	return owners.items;
}

void scan_owners_free(struct scan_owner *owners, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(owners[i].name);
	free(owners);
}

/* ---- Why ---- */

static struct scan_step *add_step(struct scan_why *why)
{
	why->steps = xreallocarray(why->steps, why->step_count + 1, sizeof(*why->steps));
	why->steps[why->step_count] = (struct scan_step){0};
	return &why->steps[why->step_count++];
}

static void add_block(struct scan_why *why, const struct heap_block *block, const struct heap_image *image,
		      struct scan_types *types)
{
	struct scan_step *step = add_step(why);

	step->address = block->address;
	step->size = block->size;
	step->type = scan_type_name(types, scan_type_of(types, image, block->address, block->size));
}

/* The blocks from the first one to this one. */
static void add_way(struct scan_why *why, const struct heap *heap, const struct heap_image *image,
		    struct scan_types *types, uint32_t index)
{
	size_t count, steps = 0;
	const struct heap_block *blocks = heap_blocks(heap, &count);
	uint32_t way[STEPS_MAX], first = index;
	size_t shown = 0;

	for (uint32_t at = index; at != HEAP_NONE && steps < count; at = blocks[at].from, steps++) {
		if (shown < STEPS_MAX)
			way[shown++] = at;
		first = at;
	}
	/* Which structure is lost is said by its first block. */
	if (steps > shown && blocks[first].class == HEAP_LOST) {
		add_block(why, &blocks[first], image, types);
		steps--;
	}
	if (steps > shown)
		add_step(why)->left_out = steps - shown;
	while (shown-- > 0)
		add_block(why, &blocks[way[shown]], image, types);
}

void scan_why(struct scan_why *why, const struct heap *heap, const struct heap_image *image, struct data_names *names,
	      struct scan_types *types)
{
	size_t count;
	const struct heap_block *blocks = heap_blocks(heap, &count);
	const uint32_t index = heap_find(heap, why->address);
	struct buf root = {0};

	why->is_block = index != HEAP_NONE;
	if (!why->is_block)
		return;
	why->class = (enum scan_class)blocks[index].class;
	why->is_doubtful = blocks[index].class == HEAP_POSSIBLE && blocks[index].root == HEAP_NONE;
	if (blocks[index].root != HEAP_NONE) {
		add_root(&root, heap, image, names, blocks[index].root, true);
		add_step(why)->root = xstrdup(buf_str(&root));
		buf_free(&root);
	}
	add_way(why, heap, image, types, index);
}

void scan_why_free(struct scan_why *why)
{
	for (size_t i = 0; i < why->step_count; i++)
		free(why->steps[i].root);
	free(why->steps);
}
