/* The objects that are mapped, as far as a trace has said by now.  Private to trace/. */
#ifndef FT_TRACE_MAPPED_OBJECTS_H
#define FT_TRACE_MAPPED_OBJECTS_H

#include "trace/event.h"

struct mapped_object {
	struct record_object object; /* the path our own */
	char *build_id;              /* its hex; NULL unknown */
};

struct mapped_objects {
	struct mapped_object *items; /* by `from`; none overlaps another */
	size_t count, capacity;
};

/* It replaces what it overlaps. False, and nothing changes: it is empty, or there already. */
bool mapped_objects_add(struct mapped_objects *objects, const struct record_object *object);
/* The build-id of the object that begins there; of none nothing is kept. */
void mapped_objects_name(struct mapped_objects *objects, const struct record_build_id *build_id);
/* What overlaps the range has gone. */
void mapped_objects_remove(struct mapped_objects *objects, uint64_t from, uint64_t to);
/* The first that overlaps the range; NULL none. */
const struct record_object *mapped_objects_find(const struct mapped_objects *objects, uint64_t from, uint64_t to);
void mapped_objects_free(struct mapped_objects *objects);

#endif
