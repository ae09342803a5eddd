/* The areas of memory that contain a trace's blocks, for formats that have a place for them. */
#ifndef FT_RECORD_HEAP_AREAS_H
#define FT_RECORD_HEAP_AREAS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* An area that is in the trace: the addresses from `from` to `to` - 1. */
struct area {
	uint64_t from, to;
};

struct areas {
	struct area *items; /* sorted by address; no two overlap or touch */
	size_t count, capacity;
};

/* Notes a block of the process. If it is outside all areas, looks up its mapping, adds that, and calls put() for each
 * part that is new. Does nothing if the mappings cannot be read or there are too many areas. */
void areas_note_block(struct areas *areas, pid_t pid, uint64_t address,
		      void (*put)(void *context, uint64_t from, uint64_t size), void *context);
void areas_free(struct areas *areas);

#endif
