/* The areas of memory that contain a trace's blocks, for formats with ENCODING_AREAS. */
#ifndef FT_RECORD_HEAP_AREAS_H
#define FT_RECORD_HEAP_AREAS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* An area that was written to the trace: the addresses from `from` to `to` - 1. */
struct area {
	uint64_t from, to;
};

struct areas {
	struct area *items; /* sorted by address; no two overlap or touch */
	size_t count, capacity;
};

/* To be called for each allocated block. If the block is outside of all areas, adds the mapping that contains it, and
 * calls put() for each part of the mapping that was in no area. Does nothing if the mappings cannot be read or there
 * are too many areas. */
void areas_note_block(struct areas *areas, pid_t pid, uint64_t address,
		      void (*put)(void *context, uint64_t from, uint64_t size), void *context);
void areas_free(struct areas *areas);

#endif
