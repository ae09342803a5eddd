/* Finds which roots keep blocks alive. */
#ifndef FT_SCAN_RETENTION_H
#define FT_SCAN_RETENTION_H

#include "heap/heap.h"
#include "scan/scan_report.h"

struct data_names;

struct scan_owners;

/* Begins to sum up the reachable and possibly lost blocks by root: each block is added to the root through which it was
 * reached first. scan_owners_end() frees the struct and returns an array in descending order of bytes, which
 * scan_owners_free() frees. */
struct scan_owners *scan_owners_begin(const struct heap_image *image, struct data_names *names);
/* Adds blocks to the sums of a root. To be passed to heap_classify_for() as `owner`. */
void scan_owners_add(void *owners, uint64_t address, pid_t tid, uint64_t bytes, uint64_t blocks);
struct scan_owner *scan_owners_end(struct scan_owners *owners, size_t *count);
void scan_owners_free(struct scan_owner *owners, size_t count);
/* Finds why the block at why->address is alive, or that it is lost. Sets the other members of *why, which must be
 * zero. The heap must have been classified with has_ways. scan_retained_by_free() frees the steps. */
void scan_retained_by(struct scan_retained_by *why, const struct heap *heap, const struct heap_image *image,
		      struct data_names *names, struct scan_types *types);
void scan_retained_by_free(struct scan_retained_by *why);

#endif
