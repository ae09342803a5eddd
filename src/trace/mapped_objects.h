/* The set of objects that are mapped at the current place of a trace. Private to trace/. */
#ifndef FT_TRACE_MAPPED_OBJECTS_H
#define FT_TRACE_MAPPED_OBJECTS_H

#include "trace/event.h"

struct mapped_objects_item {
	struct record_object object; /* owns the path */
	char *build_id;              /* hexadecimal; NULL if unknown */
};

struct mapped_objects {
	struct mapped_objects_item *items; /* sorted by `from`; no two overlap */
	size_t count, capacity;
};

/* Adds an object, and removes the objects that it overlaps. Returns false and changes nothing if the object is empty or
 * already in the set. */
bool mapped_objects_add(struct mapped_objects *objects, const struct record_object *object);
/* Sets the build-id of the object that begins at build_id->from. Does nothing if no object begins there. */
void mapped_objects_name(struct mapped_objects *objects, const struct record_build_id *build_id);
/* Removes the objects that overlap the range. */
void mapped_objects_remove(struct mapped_objects *objects, uint64_t from, uint64_t to);
/* Returns the first object that overlaps the range, or NULL. */
const struct record_object *mapped_objects_find(const struct mapped_objects *objects, uint64_t from, uint64_t to);
void mapped_objects_free(struct mapped_objects *objects);

#endif
