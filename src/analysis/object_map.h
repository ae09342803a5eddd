/* Stores the objects that are mapped at the current position in a trace, with their addresses.
 *
 * A later object replaces the objects that it overlaps (dlclose and dlopen reuse addresses). A replaced object is freed
 * when no call and no stack refers to it any more. So memory is proportional to the number of objects that are mapped,
 * or that stored stacks go through. */
#ifndef FT_ANALYSIS_OBJECT_MAP_H
#define FT_ANALYSIS_OBJECT_MAP_H

#include "analysis/stage.h"

struct mapped_object {
	uint64_t from, to;
	char *path;
	char *build_id; /* NULL if unknown */
	size_t references;
	bool mapped;
};

struct object_map {
	void *tree;     /* tsearch() tree of the mapped objects; their ranges are disjoint */
	uint64_t epoch; /* incremented by each change */
};

enum object_change {
	OBJECT_SAME,     /* the same object is mapped there already */
	OBJECT_NEW,      /* the new object replaces no other object */
	OBJECT_REPLACES, /* the new object replaces at least one other object */
};

/* Adds a declared object, in place of the objects that it overlaps. Does nothing and returns OBJECT_SAME if the object
 * is mapped already or is empty (from >= to). */
enum object_change object_map_put(struct object_map *map, const struct record_object *object);
/* Adds the object, or the build-id, of such a record, and does nothing for another record. */
void object_map_note(struct object_map *map, const struct record *record);
/* Returns what object_map_put() would return, without changing the map. */
enum object_change object_map_check(const struct object_map *map, const struct record_object *object);
/* Returns the object that is mapped at an address, or NULL. */
struct mapped_object *object_map_find(const struct object_map *map, uint64_t address);
/* Adds a replaced object again, in place of the objects that it overlaps. */
void object_map_restore(struct object_map *map, struct mapped_object *object);
/* Passes an object record, and its build-id if known, to the stage. Return value as stage_put(). */
int mapped_object_put(const struct mapped_object *object, struct stage *stage);
/* Returns true if the two objects have the same path, addresses and build-id (if both build-ids are known), or if both
 * pointers are NULL. */
bool mapped_object_same(const struct mapped_object *a, const struct mapped_object *b);
/* Drops one reference, which was added by ++references. Frees the object if this was the last reference and the object
 * is not mapped. */
void mapped_object_release(struct mapped_object *object);
void object_map_free(struct object_map *map);

#endif
