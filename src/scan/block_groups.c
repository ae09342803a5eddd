#include "config.h"
#include "scan/block_groups.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

static void block_groups_add(struct scan_sum *sum, struct scan_sum more)
{
	sum->bytes += more.bytes;
	sum->blocks += more.blocks;
}

struct scan_sum scan_group_all(const struct scan_group *group)
{
	struct scan_sum all = {0};

	for (size_t i = 0; i < CLASSES; i++)
		block_groups_add(&all, group->sums[i]);
	return all;
}

void scan_groups_begin(struct scan_groups *groups, bool keeps_lost)
{
	for (size_t i = 0; i < groups->count; i++) {
		struct scan_group *group = &groups->items[i];

		*group = (struct scan_group){.size = group->size, .type = group->type, .before = scan_group_all(group)};
	}
	free(groups->before.items);
	groups->before = groups->lost;
	groups->lost = (struct scan_losses){0};
	groups->next_before = 0;
	groups->keeps_lost = keeps_lost;
	groups->still_lost = (struct scan_sum){0};
	memset(groups->sums, 0, sizeof(groups->sums));
	groups->scans++;
}

static uint64_t key_of(uint64_t size, size_t type)
{
	return size << 17 ^ type; /* sizes have at most 47 bits, type numbers 16 */
}

static struct scan_group *block_groups_group_of(struct scan_groups *groups, uint64_t size, size_t type)
{
	uint64_t *place = hash_place(&groups->by_key, key_of(size, type));

	if (!*place) {
		ARRAY_GROW(groups->items, groups->capacity, groups->count);
		groups->items[groups->count] = (struct scan_group){.size = size, .type = type};
		*place = ++groups->count;
	}
	return &groups->items[*place - 1];
}

static bool was_lost(struct scan_groups *groups, uint64_t address, uint64_t size)
{
	const struct scan_losses *const before = &groups->before;
	size_t *const next = &groups->next_before;

	while (*next < before->count && before->items[*next].address < address)
		++*next;
	return *next < before->count && before->items[*next].address == address && before->items[*next].size == size;
}

static void keep_lost(struct scan_losses *lost, uint64_t address, uint64_t size)
{
	ARRAY_GROW(lost->items, lost->capacity, lost->count);
	lost->items[lost->count++] = (struct scan_loss){address, size};
}

void scan_groups_add(struct scan_groups *groups, uint64_t address, uint64_t size, size_t type, enum scan_class class,
		     struct scan_sum kept_lost)
{
	struct scan_group *group = block_groups_group_of(groups, size, type);
	const struct scan_sum one = {size, 1};

	if (!group->examples[class])
		group->examples[class] = address;
	block_groups_add(&group->sums[class], one);
	block_groups_add(&group->kept_lost, kept_lost);
	block_groups_add(&groups->sums[class], one);
	if (class != CLASS_LOST)
		return;
	if (groups->keeps_lost)
		keep_lost(&groups->lost, address, size);
	if (was_lost(groups, address, size))
		block_groups_add(&groups->still_lost, one);
}

uint64_t scan_group_example(const struct scan_group *group)
{
	for (size_t i = 0; i < CLASSES; i++)
		if (group->examples[i])
			return group->examples[i];
	return 0;
}

void scan_groups_free(struct scan_groups *groups)
{
	hash_free(&groups->by_key);
	free(groups->lost.items);
	free(groups->before.items);
	free(groups->items);
	*groups = (struct scan_groups){0};
}

/* ---- Order ---- */

static int block_groups_compare(const void *one, const void *two)
{
	const struct scan_group *a = one, *b = two;

	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return compare_u64(b->size, a->size) ?: compare_u64(a->type, b->type);
}

static void sort_and_index(struct scan_groups *groups)
{
	qsort(groups->items, groups->count, sizeof(*groups->items), block_groups_compare);
	for (size_t i = 0; i < groups->count; i++)
		hash_set(&groups->by_key, key_of(groups->items[i].size, groups->items[i].type), i + 1);
}

void scan_groups_sort(struct scan_groups *groups, enum scan_class class)
{
	for (size_t i = 0; i < groups->count; i++) {
		struct scan_group *group = &groups->items[i];

		group->rank = (int64_t)(group->sums[class].bytes + (class == CLASS_LOST ? group->kept_lost.bytes : 0));
	}
	sort_and_index(groups);
}

void scan_groups_sort_growth(struct scan_groups *groups)
{
	for (size_t i = 0; i < groups->count; i++)
		groups->items[i].rank =
			(int64_t)(scan_group_all(&groups->items[i]).bytes - groups->items[i].before.bytes);
	sort_and_index(groups);
}
