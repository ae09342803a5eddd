#include "config.h"
#include "analysis/object_map.h"
#include "base/msg.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/* Ranges that overlap compare equal. The ranges in the tree are disjoint, so they have a total order, and a search
 * finds a range that overlaps the key. */
static int object_map_compare(const void *a, const void *b)
{
	const struct mapped_object *x = a, *y = b;

	if (x->to <= y->from)
		return -1;
	return x->from >= y->to;
}

static struct mapped_object *find_overlap(const struct object_map *map, uint64_t from, uint64_t to)
{
	const struct mapped_object key = {.from = from, .to = to};
	struct mapped_object *const *node = tfind(&key, &map->tree, object_map_compare);

	return node ? *node : NULL;
}

static void free_unused(struct mapped_object *object)
{
	if (object->references || object->mapped)
		return;
	free(object->path);
	free(object->build_id);
	free(object);
}

void mapped_object_release(struct mapped_object *object)
{
	object->references--;
	free_unused(object);
}

enum object_change object_map_check(const struct object_map *map, const struct record_object *object)
{
	if (object->from >= object->to)
		return OBJECT_SAME;
	const struct mapped_object *old = find_overlap(map, object->from, object->to);

	if (!old)
		return OBJECT_NEW;
	if (old->from == object->from && old->to == object->to && !strcmp(old->path, string_or_empty(object->path)))
		return OBJECT_SAME;
	return OBJECT_REPLACES;
}

void object_map_restore(struct object_map *map, struct mapped_object *object)
{
	struct mapped_object *old;

	while ((old = find_overlap(map, object->from, object->to))) {
		tdelete(old, &map->tree, object_map_compare);
		old->mapped = false;
		free_unused(old);
	}
	if (!tsearch(object, &map->tree, object_map_compare))
		msg_die("out of memory; functrace-postproc cannot go on");
	object->mapped = true;
	map->epoch++;
}

enum object_change object_map_put(struct object_map *map, const struct record_object *object)
{
	const enum object_change change = object_map_check(map, object);

	if (change == OBJECT_SAME)
		return change;
	struct mapped_object *new_object = xmalloc(sizeof(*new_object));

	*new_object = (struct mapped_object){
		.from = object->from, .to = object->to, .path = xstrdup(string_or_empty(object->path))};
	object_map_restore(map, new_object);
	return change;
}

struct mapped_object *object_map_find(const struct object_map *map, uint64_t address)
{
	return address == UINT64_MAX ? NULL : find_overlap(map, address, address + 1);
}

/* Copies the build-id to the object that begins at the record's address, if there is one. */
static void object_map_set_build_id(struct object_map *map, const struct record_build_id *build_id)
{
	struct mapped_object *object = object_map_find(map, build_id->from);

	if (!object || object->from != build_id->from)
		return;
	free(object->build_id);
	object->build_id = xstrdup(string_or_empty(build_id->hex));
}

void object_map_note(struct object_map *map, const struct record *record)
{
	if (record->type == RECORD_OBJECT)
		object_map_put(map, &record->object);
	else if (record->type == RECORD_BUILD_ID)
		object_map_set_build_id(map, &record->build_id);
}

bool mapped_object_same(const struct mapped_object *a, const struct mapped_object *b)
{
	if (a == b || !a || !b)
		return a == b;
	return a->from == b->from && a->to == b->to && !strcmp(a->path, b->path) &&
	       (!a->build_id || !b->build_id || !strcmp(a->build_id, b->build_id));
}

int mapped_object_put(const struct mapped_object *object, struct stage *stage)
{
	struct record record = {.type = RECORD_OBJECT, .object = {object->from, object->to, object->path}};
	const int error = stage_put(stage, &record);

	if (error || !object->build_id)
		return error;
	record = (struct record){.type = RECORD_BUILD_ID, .build_id = {object->from, object->build_id}};
	return stage_put(stage, &record);
}

static void free_node(void *node)
{
	struct mapped_object *object = node;

	object->mapped = false;
	free_unused(object);
}

void object_map_free(struct object_map *map)
{
	tdestroy(map->tree, free_node);
	map->tree = NULL;
}
