/* What is alive because of what. */
#ifndef FT_SCAN_RETENTION_H
#define FT_SCAN_RETENTION_H

#include "heap/heap.h"
#include "scan/scan_report.h"

struct data_names;

struct scan_owners;

/* The blocks that are reachable, summed up by the root that reached them first. scan_owners_end() frees it, and gives
 * an array, the greatest first, which scan_owners_free() frees. */
struct scan_owners *scan_owners_begin(const struct heap_image *image, struct data_names *names);
/* A callback of heap_classify_for(). */
void scan_owners_add(void *owners, uint64_t address, pid_t tid, uint64_t bytes, uint64_t blocks);
struct scan_owner *scan_owners_end(struct scan_owners *owners, size_t *count);
void scan_owners_free(struct scan_owner *owners, size_t count);
/* Why the block at why->address is alive, or that it is not, in the rest of *why, which is zero. scan_why_free() frees
 * its steps. The heap has been asked for ways. */
void scan_why(struct scan_why *why, const struct heap *heap, const struct heap_image *image, struct data_names *names,
	      struct scan_types *types);
void scan_why_free(struct scan_why *why);

#endif
