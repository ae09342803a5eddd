/* The parts of struct heap with the roots, the ways from them to blocks, and the memory without roots. */
#ifndef FT_HEAP_HEAP_REACH_H
#define FT_HEAP_HEAP_REACH_H

#include "heap/heap.h"

struct root {
	uint64_t address; /* address of the word; 0: a register of thread `tid` */
	pid_t tid;
};

/* The sums of the blocks that are indirectly lost through a block. */
struct leads {
	uint64_t bytes, blocks;
	uint32_t block;
};

/* How a block was reached, as heap_way() returns it. */
struct way {
	uint32_t root, from;
};

/* The roots, and how blocks are reached from them (mark.c). */
struct heap_reach {
	struct way *ways; /* one for each block; NULL if ways are not kept */
	struct root *roots;
	size_t root_count, root_capacity;
	struct leads *leads; /* for each lost block that points to other lost blocks, in the blocks' order */
	size_t lead_count, lead_capacity;
};

/* Memory whose words are not roots. */
struct heap_excluded {
	struct range *ignored; /* memory whose words are not roots; in order of address, disjoint; see roots.c */
	size_t ignored_count;
	struct range *own; /* the allocator's own data outside of regions; its words are not roots */
	size_t own_count, own_capacity;
};

#endif
