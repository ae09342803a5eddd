/* The areas of memory that a trace's blocks lie in, for formats that have a place for them. */
#ifndef FT_RECORD_HEAP_AREAS_H
#define FT_RECORD_HEAP_AREAS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* An area that the trace has: from..to - 1. */
struct area {
	uint64_t from, to;
};

struct areas {
	struct area *items; /* by address, never touching each other */
	size_t count, capacity;
};

/* A block of the process: where it lies outside of all areas, its mapping is looked up, and `put` gets what is new of
 * it. Nothing is put where the mappings cannot be read. */
void areas_note_block(struct areas *areas, pid_t pid, uint64_t address,
		      void (*put)(void *context, uint64_t from, uint64_t size), void *context);
void areas_free(struct areas *areas);

#endif
