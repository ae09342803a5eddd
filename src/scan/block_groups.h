/* Sums up the blocks of a heap by size and type, and compares them with the previous scan. */
#ifndef FT_SCAN_BLOCK_GROUPS_H
#define FT_SCAN_BLOCK_GROUPS_H

#include "base/hash.h"

/* The classes of blocks, as in valgrind's manual ("Memory leak detection"). */
enum scan_class { CLASS_LOST, CLASS_INDIRECT, CLASS_POSSIBLE, CLASS_REACHABLE, CLASSES };

struct scan_sum {
	uint64_t bytes, blocks;
};

struct scan_group {
	uint64_t size; /* bytes of one block */
	size_t type;
	struct scan_sum sums[CLASSES];
	struct scan_sum kept_lost;  /* sums of the blocks that are indirectly lost through blocks of this group */
	uint64_t examples[CLASSES]; /* address of the first block of each class; 0 if the group has no such block */
	struct scan_sum before;     /* sums of all blocks of the group at the previous scan */
	int64_t rank;               /* the number of bytes by which the last sort has ordered the group */
};

struct scan_losses {
	struct scan_loss {
		uint64_t address, size;
	} * items;
	size_t count, capacity;
};

/* The groups of a scan, and the results of the previous one. The caller zeroes the struct before the first scan. */
struct scan_groups {
	struct scan_group *items; /* sorted by scan_groups_sort() */
	size_t count, capacity;
	struct hash by_key; /* hash of size and type -> index + 1 */
	struct scan_sum sums[CLASSES];
	bool keeps_lost;            /* true if another scan follows, which is compared with this one */
	struct scan_losses lost;    /* if keeps_lost, the definitely lost blocks, by address */
	struct scan_losses before;  /* `lost` of the previous scan */
	size_t next_before;         /* index in `before` of the first block at or after the block added last */
	struct scan_sum still_lost; /* sums of the blocks that are lost both in this scan and in the previous one */
	size_t scans;
};

/* Begins a scan. The current results become those of the previous scan. */
void scan_groups_begin(struct scan_groups *groups, bool keeps_lost);
/* Adds a block. The caller adds the blocks by ascending address. kept_lost: sums of the blocks that are indirectly
 * lost through this block. */
void scan_groups_add(struct scan_groups *groups, uint64_t address, uint64_t size, size_t type, enum scan_class class,
		     struct scan_sum kept_lost);
void scan_groups_free(struct scan_groups *groups);

/* Returns the address of the group's first block of the first class (in the order of enum scan_class) of which the
 * group has blocks. Returns 0 if the group has no blocks. */
uint64_t scan_group_example(const struct scan_group *group);
/* Returns the sum of all blocks of a group. */
struct scan_sum scan_group_all(const struct scan_group *group);
/* These sort the groups by `rank` in descending order. scan_groups_sort() ranks a group by the bytes of its blocks of
 * class `class`; for CLASS_LOST, it adds the bytes that are indirectly lost through these blocks.
 * scan_groups_sort_growth() ranks a group by the growth of all its blocks, in bytes, since the previous scan. */
void scan_groups_sort(struct scan_groups *groups, enum scan_class class);
void scan_groups_sort_growth(struct scan_groups *groups);

#endif
