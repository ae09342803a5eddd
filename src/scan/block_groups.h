/* Sums up the blocks of a heap by size and type, and compares them with the previous scan. */
#ifndef FT_SCAN_BLOCK_GROUPS_H
#define FT_SCAN_BLOCK_GROUPS_H

#include "base/hash.h"

/* As in valgrind's manual ("Memory leak detection"). */
enum scan_class { CLASS_LOST, CLASS_INDIRECT, CLASS_POSSIBLE, CLASS_REACHABLE, CLASSES };

struct scan_sum {
	uint64_t bytes, blocks;
};

struct scan_group {
	uint64_t size; /* of one block */
	size_t type;
	struct scan_sum sums[CLASSES];
	struct scan_sum kept_lost;  /* blocks that are indirectly lost because a block of this group leads to them */
	uint64_t examples[CLASSES]; /* the first block of each class; 0: there is none */
	struct scan_sum before;     /* all of its blocks at the previous scan */
	int64_t rank;               /* the bytes that it was sorted by */
};

struct scan_losses {
	struct scan_loss {
		uint64_t address, size;
	} * items;
	size_t count, capacity;
};

/* Must be zero at first. */
struct scan_groups {
	struct scan_group *items; /* sorted by scan_groups_sort() */
	size_t count, capacity;
	struct hash by_key; /* size and type, mixed -> index + 1 */
	struct scan_sum sums[CLASSES];
	bool keeps_lost;            /* another scan follows, which is compared with this one */
	struct scan_losses lost;    /* if so, the definitely lost blocks, by address */
	struct scan_losses before;  /* the same of the previous scan */
	size_t next_before;         /* index in `before` of the first block that is not below the one added last */
	struct scan_sum still_lost; /* blocks that were lost at the previous scan and are still lost */
	size_t scans;
};

/* Begins a scan. The results so far become those of the previous scan. */
void scan_groups_begin(struct scan_groups *groups, bool keeps_lost);
/* Adds a block; blocks come by ascending address. kept_lost: what is indirectly lost because of it. */
void scan_groups_add(struct scan_groups *groups, uint64_t address, uint64_t size, size_t type, enum scan_class class,
		     struct scan_sum kept_lost);
void scan_groups_free(struct scan_groups *groups);

/* Returns the address of a block of the group, of the first class that has one; 0: the group has no blocks. */
uint64_t scan_group_example(const struct scan_group *group);
/* Returns the sum of all blocks of a group. */
struct scan_sum scan_group_all(const struct scan_group *group);
/* Sort the groups by `rank`, the greatest first. The rank is the bytes of their blocks of this class, for lost blocks
 * with what is lost because of them. For scan_groups_sort_growth() it is the growth of all their blocks since the
 * previous scan. */
void scan_groups_sort(struct scan_groups *groups, enum scan_class class);
void scan_groups_sort_growth(struct scan_groups *groups);

#endif
