/* What is alive because of what. */
#ifndef FT_SCAN_OWNERS_H
#define FT_SCAN_OWNERS_H

#include "heap/heap.h"
#include "scan/report.h"

struct data_names;

/* The blocks that are reachable, summed up by the root that reached them first: an array, the greatest first, which
 * scan_owners_free() frees. */
struct scan_owner *scan_owners(const struct heap *heap, const struct heap_image *image, struct data_names *names,
			       size_t *count);
void scan_owners_free(struct scan_owner *owners, size_t count);
/* Why the block at why->address is alive, or that it is not, in the rest of *why, which is zero. scan_why_free() frees
 * its steps. */
void scan_why(struct scan_why *why, const struct heap *heap, const struct heap_image *image, struct data_names *names,
	      struct scan_types *types);
void scan_why_free(struct scan_why *why);

#endif
