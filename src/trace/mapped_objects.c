#include "config.h"
#include "base/util.h"
#include "trace/mapped_objects.h"

#include <stdlib.h>
#include <string.h>

/* Returns the index of the first object whose end is above `from`. */
static size_t first_above(const struct mapped_objects *objects, uint64_t from)
{
	const size_t i = COUNT_UP_TO(objects->items, objects->count, .object.from, from);

	return i && objects->items[i - 1].object.to > from ? i - 1 : i;
}

static struct mapped_objects_item *overlapping(const struct mapped_objects *objects, uint64_t from, uint64_t to)
{
	const size_t i = first_above(objects, from);

	return i < objects->count && objects->items[i].object.from < to ? &objects->items[i] : NULL;
}

const struct record_object *mapped_objects_find(const struct mapped_objects *objects, uint64_t from, uint64_t to)
{
	const struct mapped_objects_item *const there = overlapping(objects, from, to);

	return there ? &there->object : NULL;
}

static void item_free(struct mapped_objects_item *item)
{
	free((char *)(uintptr_t)item->object.path);
	free(item->build_id);
}

void mapped_objects_remove(struct mapped_objects *objects, uint64_t from, uint64_t to)
{
	const size_t first = first_above(objects, from);
	size_t end = first;

	for (; end < objects->count && objects->items[end].object.from < to; end++)
		item_free(&objects->items[end]);
	if (end == first)
		return;
	memmove(objects->items + first, objects->items + end, (objects->count - end) * sizeof(*objects->items));
	objects->count -= end - first;
}

bool mapped_objects_add(struct mapped_objects *objects, const struct record_object *object)
{
	const char *const path = object->path ? object->path : "";
	const struct record_object *const there = mapped_objects_find(objects, object->from, object->to);

	if (object->from >= object->to)
		return false;
	if (there && there->from == object->from && there->to == object->to && !strcmp(there->path, path))
		return false;
	mapped_objects_remove(objects, object->from, object->to);
	const size_t at = first_above(objects, object->from);

	ARRAY_GROW(objects->items, objects->capacity, objects->count);
	memmove(objects->items + at + 1, objects->items + at, (objects->count++ - at) * sizeof(*objects->items));
	objects->items[at] = (struct mapped_objects_item){{object->from, object->to, xstrdup(path)}, NULL};
	return true;
}

void mapped_objects_name(struct mapped_objects *objects, const struct record_build_id *build_id)
{
	struct mapped_objects_item *const there = overlapping(objects, build_id->from, build_id->from + 1);

	if (!there || there->object.from != build_id->from || !build_id->hex)
		return;
	free(there->build_id);
	there->build_id = xstrdup(build_id->hex);
}

void mapped_objects_free(struct mapped_objects *objects)
{
	for (size_t i = 0; i < objects->count; i++)
		item_free(&objects->items[i]);
	free(objects->items);
}
