/* The blocks of a heap, summed up by size and type, and what has become of them since the scan before. */
#ifndef FT_SCAN_BLOCK_GROUPS_H
#define FT_SCAN_BLOCK_GROUPS_H

#include "base/hash.h"

/* As valgrind's manual has them ("Memory leak detection"). */
enum scan_class { CLASS_LOST, CLASS_INDIRECT, CLASS_POSSIBLE, CLASS_REACHABLE, CLASSES };

struct scan_sum {
	uint64_t bytes, blocks;
};

struct scan_group {
	uint64_t size; /* of one block */
	size_t type;
	struct scan_sum sums[CLASSES];
	struct scan_sum kept_lost;  /* indirectly lost, for a block of this group leads to them */
	uint64_t examples[CLASSES]; /* the first block of each class; 0: there is none */
	struct scan_sum before;     /* all of its blocks at the scan before */
	int64_t rank;               /* bytes that it was sorted by */
};

struct scan_losses {
	struct scan_loss {
		uint64_t address, size;
	} * items;
	size_t count, capacity;
};

/* Zero at first. */
struct scan_groups {
	struct scan_group *items; /* sorted by scan_groups_sort() */
	size_t count, capacity;
	struct hash by_key; /* size and type, mixed -> index + 1 */
	struct scan_sum sums[CLASSES];
	bool keeps_lost;            /* another scan follows, which is compared with this one */
	struct scan_losses lost;    /* if so, the blocks that are definitely lost, by address */
	struct scan_losses before;  /* the same of the scan before */
	size_t next_before;         /* of these, the first that is not below the block that was added last */
	struct scan_sum still_lost; /* the same blocks, lost now and then */
	size_t scans;
};

/* Begins a scan: what was found is from now on what was before. */
void scan_groups_begin(struct scan_groups *groups, bool keeps_lost);
/* A block, by ascending address, and, if it is lost, what is indirectly lost by it. */
void scan_groups_add(struct scan_groups *groups, uint64_t address, uint64_t size, size_t type, enum scan_class class,
		     struct scan_sum kept_lost);
void scan_groups_free(struct scan_groups *groups);

/* The address of a block of the group, of the first class that has one; 0: the group has no blocks. */
uint64_t scan_group_example(const struct scan_group *group);
/* All blocks of a group. */
struct scan_sum scan_group_all(const struct scan_group *group);
/* Orders them by `rank`, the greatest first: the bytes of their blocks of that class, of lost ones with what is lost by
 * them; or, by scan_groups_sort_growth(), what all their blocks have more than at the scan before. */
void scan_groups_sort(struct scan_groups *groups, enum scan_class class);
void scan_groups_sort_growth(struct scan_groups *groups);

#endif
