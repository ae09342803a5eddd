/* Which object is mapped where, at the current point of a trace.
 *
 * A later object replaces what it overlaps (dlclose and dlopen reuse addresses).  A replaced one
 * stays known as long as a call or a stack holds a reference, so memory is proportional to the objects that
 * are mapped or that kept stacks go through. */
#ifndef FT_ANALYSIS_OBJECT_MAP_H
#define FT_ANALYSIS_OBJECT_MAP_H

#include "analysis/stage.h"

struct mapped_object {
	uint64_t from, to;
	char *path;
	char *build_id; /* NULL unknown */
	size_t references;
	bool mapped;
};

struct object_map {
	void *tree;     /* of disjoint ranges */
	uint64_t epoch; /* counts the changes */
};

enum object_change {
	OBJECT_SAME,     /* declared again, as it is */
	OBJECT_NEW,      /* where nothing was */
	OBJECT_REPLACES, /* something else was mapped there */
};

/* Maps a declared object. One without extent (from >= to) changes nothing: OBJECT_SAME. */
enum object_change object_map_put(struct object_map *map, const struct record_object *object);
/* What a declaration would change. */
enum object_change object_map_check(const struct object_map *map, const struct record_object *object);
/* Copies the build-id to the object that is mapped where the record says; nothing if none is. */
void object_map_set_build_id(struct object_map *map, const struct record_build_id *build_id);
/* The object at an address, or NULL. */
struct mapped_object *object_map_find(const struct object_map *map, uint64_t address);
/* Maps a replaced object again. */
void object_map_restore(struct object_map *map, struct mapped_object *object);
/* Gives the object out as records. */
int mapped_object_put(const struct mapped_object *object, struct stage *stage);
/* Whether it is the same file at the same place, mapped again or not. NULL is the same as NULL. */
bool mapped_object_same(const struct mapped_object *a, const struct mapped_object *b);
/* Drops one reference (taken by ++references). */
void mapped_object_release(struct mapped_object *object);
void object_map_free(struct object_map *map);

#endif
