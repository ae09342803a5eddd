#include "config.h"
#include "scan/retention.h"
#include "scan/root_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 30 /* maximum number of steps to a block that are shown */

struct scan_owners {
	const struct heap_image *image;
	struct data_names *names;
	struct scan_owner *items;
	size_t count, capacity;
	struct hash by_name; /* hash of the name -> index + 1 */
	struct buf name;
	/* The root of the last scan_owners_add() call, and its owner. They are kept because possibly lost blocks are
	 * added one by one, often several of the same root, and naming a root is slow. */
	uint64_t address;
	pid_t tid;
	size_t owner;
};

struct scan_owners *scan_owners_begin(const struct heap_image *image, struct data_names *names)
{
	struct scan_owners *owners = xcalloc(1, sizeof(*owners));

	owners->image = image;
	owners->names = names;
	return owners;
}

static void add_root(struct buf *out, const struct heap_image *image, struct data_names *names, uint64_t address,
		     pid_t tid, bool is_exact)
{
	if (tid)
		buf_printf(out, "registers of thread %d", tid);
	else
		scan_place_add(out, names, image, address, is_exact);
}

static size_t retention_owner_of(struct scan_owners *owners, const char *name)
{
	uint64_t *place = hash_place(&owners->by_name, hash_bytes(name, strlen(name)));

	if (!*place) {
		ARRAY_GROW(owners->items, owners->capacity, owners->count);
		owners->items[owners->count] = (struct scan_owner){.name = xstrdup(name)};
		*place = ++owners->count;
	}
	return (size_t)*place - 1;
}

void scan_owners_add(void *context, uint64_t address, pid_t tid, uint64_t bytes, uint64_t blocks)
{
	struct scan_owners *const owners = context;

	if (!owners->count || address != owners->address || tid != owners->tid) {
		owners->name.size = 0;
		add_root(&owners->name, owners->image, owners->names, address, tid, false);
		owners->owner = retention_owner_of(owners, buf_str(&owners->name));
		owners->address = address;
		owners->tid = tid;
	}
	owners->items[owners->owner].sum.bytes += bytes;
	owners->items[owners->owner].sum.blocks += blocks;
}

static int retention_compare(const void *one, const void *two)
{
	const struct scan_owner *a = one, *b = two;

	return compare_u64(b->sum.bytes, a->sum.bytes) ?: strcmp(a->name, b->name);
}

struct scan_owner *scan_owners_end(struct scan_owners *owners, size_t *count)
{
	struct scan_owner *const items = owners->items;

	*count = owners->count;
	if (owners->count)
		qsort(items, owners->count, sizeof(*items), retention_compare);
	hash_free(&owners->by_name);
	buf_free(&owners->name);
	free(owners);
	return items;
}

void scan_owners_free(struct scan_owner *owners, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(owners[i].name);
	free(owners);
}

/* ---- Why a block is alive ---- */

static struct scan_step *retention_add_step(struct scan_retained_by *why)
{
	why->steps = xreallocarray(why->steps, why->step_count + 1, sizeof(*why->steps));
	why->steps[why->step_count] = (struct scan_step){0};
	return &why->steps[why->step_count++];
}

static void retention_add_block(struct scan_retained_by *why, const struct heap *heap, uint32_t index,
				const struct heap_image *image, struct scan_types *types)
{
	const struct heap_block block = heap_block(heap, index);
	struct scan_step *step = retention_add_step(why);

	step->address = block.address;
	step->size = block.size;
	step->type = scan_type_name(types, scan_type_of(types, image, block.address, block.size));
}

/* Adds the blocks on the way to block `index` as steps, from the first block on. Of more than STEPS_MAX blocks, leaves
 * out those at the beginning of the way, but never a first block that is lost. */
static void add_way(struct scan_retained_by *why, const struct heap *heap, const struct heap_image *image,
		    struct scan_types *types, uint32_t index)
{
	const size_t count = heap_count(heap);
	uint32_t way[STEPS_MAX], first = index, root, from;
	size_t steps = 0, shown = 0;

	for (uint32_t at = index; at != HEAP_NONE && steps < count; at = from, steps++) {
		heap_way(heap, at, &root, &from);
		if (shown < STEPS_MAX)
			way[shown++] = at;
		first = at;
	}
	/* A first block that is lost is always shown, because its type says which structure is lost. */
	if (steps > shown && heap_block(heap, first).class == HEAP_LOST) {
		retention_add_block(why, heap, first, image, types);
		steps--;
	}
	if (steps > shown)
		retention_add_step(why)->left_out = steps - shown;
	while (shown-- > 0)
		retention_add_block(why, heap, way[shown], image, types);
}

void scan_retained_by(struct scan_retained_by *why, const struct heap *heap, const struct heap_image *image,
		      struct data_names *names, struct scan_types *types)
{
	const uint32_t index = heap_find(heap, why->address);
	uint32_t root, from;

	why->is_block = index != HEAP_NONE;
	if (!why->is_block)
		return;
	heap_way(heap, index, &root, &from);
	why->class = (enum scan_class)heap_block(heap, index).class;
	why->is_doubtful = why->class == CLASS_POSSIBLE && root == HEAP_NONE;
	if (root != HEAP_NONE) {
		pid_t tid;
		const uint64_t address = heap_root(heap, root, &tid);
		struct buf name = {0};

		add_root(&name, image, names, address, tid, true);
		struct scan_step *const step = retention_add_step(why);

		step->root = xstrdup(buf_str(&name));
		step->address = address;
		buf_free(&name);
	}
	add_way(why, heap, image, types, index);
}

void scan_retained_by_free(struct scan_retained_by *why)
{
	for (size_t i = 0; i < why->step_count; i++)
		free(why->steps[i].root);
	free(why->steps);
}
