#include "config.h"
#include "trace/swap_objects.h"

#include <stdlib.h>
#include <string.h>

/* The first that ends above `from`. */
static size_t first_above(const struct swap_objects *objects, uint64_t from)
{
	const size_t i = COUNT_UP_TO(objects->items, objects->count, .from, from);

	return i && objects->items[i - 1].to > from ? i - 1 : i;
}

const struct record_object *swap_objects_find(const struct swap_objects *objects, uint64_t from, uint64_t to)
{
	const size_t i = first_above(objects, from);

	return i < objects->count && objects->items[i].from < to ? &objects->items[i] : NULL;
}

void swap_objects_remove(struct swap_objects *objects, uint64_t from, uint64_t to)
{
	const size_t first = first_above(objects, from);
	size_t end = first;

	for (; end < objects->count && objects->items[end].from < to; end++)
		free((char *)(uintptr_t)objects->items[end].path);
	if (end == first)
		return;
	memmove(objects->items + first, objects->items + end, (objects->count - end) * sizeof(*objects->items));
	objects->count -= end - first;
}

bool swap_objects_add(struct swap_objects *objects, const struct record_object *object)
{
	const char *const path = object->path ? object->path : "";
	const struct record_object *const there = swap_objects_find(objects, object->from, object->to);

	if (object->from >= object->to)
		return false;
	if (there && there->from == object->from && there->to == object->to && !strcmp(there->path, path))
		return false;
	swap_objects_remove(objects, object->from, object->to);
	const size_t at = first_above(objects, object->from);

	ARRAY_GROW(objects->items, objects->capacity, objects->count);
	memmove(objects->items + at + 1, objects->items + at, (objects->count++ - at) * sizeof(*objects->items));
	objects->items[at] = (struct record_object){object->from, object->to, xstrdup(path)};
	return true;
}

void swap_objects_free(struct swap_objects *objects)
{
	for (size_t i = 0; i < objects->count; i++)
		free((char *)(uintptr_t)objects->items[i].path);
	free(objects->items);
}
