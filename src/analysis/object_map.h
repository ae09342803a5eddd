/* Keeps which object is mapped where, at the current point of a trace.
 *
 * A later object replaces those that it overlaps (dlclose and dlopen reuse addresses). A replaced object is kept as
 * long as a call or a stack refers to it, so memory is proportional to the objects that are mapped or that kept stacks
 * go through. */
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
	void *tree;     /* of disjoint ranges */
	uint64_t epoch; /* counts the changes */
};

enum object_change {
	OBJECT_SAME,     /* declared again without a change */
	OBJECT_NEW,      /* nothing was mapped there */
	OBJECT_REPLACES, /* something else was mapped there */
};

/* Maps a declared object. An object without extent (from >= to) changes nothing: OBJECT_SAME. */
enum object_change object_map_put(struct object_map *map, const struct record_object *object);
/* Returns what a declaration would change. */
enum object_change object_map_check(const struct object_map *map, const struct record_object *object);
/* Copies the build-id to the object that is mapped at the record's address, if there is one. */
void object_map_set_build_id(struct object_map *map, const struct record_build_id *build_id);
/* Returns the object at an address, or NULL. */
struct mapped_object *object_map_find(const struct object_map *map, uint64_t address);
/* Maps a replaced object again. */
void object_map_restore(struct object_map *map, struct mapped_object *object);
/* Passes the object to the stage as records. Returns as stage_put(). */
int mapped_object_put(const struct mapped_object *object, struct stage *stage);
/* Returns true if both are the same file at the same place, even if it was mapped again. NULL is the same as NULL. */
bool mapped_object_same(const struct mapped_object *a, const struct mapped_object *b);
/* Drops one reference, which was taken by ++references. */
void mapped_object_release(struct mapped_object *object);
void object_map_free(struct object_map *map);

#endif
