/* The objects that are mapped, as far as a SWAP trace says.  Private to trace/. */
#ifndef FT_TRACE_SWAP_OBJECTS_H
#define FT_TRACE_SWAP_OBJECTS_H

#include "trace/swap.h"

struct swap_objects {
	struct record_object *items; /* by `from`; none overlaps another; the paths our own */
	size_t count, capacity;
};

/* It replaces what it overlaps. False, and nothing changes: it is empty, or there already. */
bool swap_objects_add(struct swap_objects *objects, const struct record_object *object);
/* What overlaps the range has gone. */
void swap_objects_remove(struct swap_objects *objects, uint64_t from, uint64_t to);
/* The first that overlaps the range; NULL none. */
const struct record_object *swap_objects_find(const struct swap_objects *objects, uint64_t from, uint64_t to);
void swap_objects_free(struct swap_objects *objects);

#endif
