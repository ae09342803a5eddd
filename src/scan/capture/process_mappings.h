/* The mappings of a live process as its memory image lists them. */
#ifndef FT_SCAN_CAPTURE_PROCESS_MAPPINGS_H
#define FT_SCAN_CAPTURE_PROCESS_MAPPINGS_H

#include "heap/image.h"
#include "symbols/objects/maps.h"

/* The results of process_mappings_learn(); all zero at first. */
struct process_mappings {
	struct heap_mapping *objects; /* mappings that begin with other bytes than variables */
	size_t count;
};

/* Reads from the headers of all objects where their variables begin. The process may run meanwhile, and change its
 * mappings. So a result is used only for a mapping of the same part of the same file at the same address. */
void process_mappings_learn(struct process_mappings *learned, const struct maps *maps, pid_t tid,
			    const struct arch *arch);
void process_mappings_free(struct process_mappings *learned);
/* Returns the mappings of an image, maps->count of them, in the array `items`, which is reallocated (NULL at first).
 * The caller frees the array. The paths belong to `maps`. */
struct heap_mapping *process_mappings_list(const struct process_mappings *learned, const struct maps *maps,
					   struct heap_mapping *items);

#endif
