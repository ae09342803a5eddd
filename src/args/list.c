#include "config.h"
#include "args/list.h"
#include "base/util.h"

#include <stdlib.h>

struct arg_list *arg_list_new(void)
{
	struct arg_list *list = xcalloc(1, sizeof(*list));

	list->references = 1;
	return list;
}

struct arg_list *arg_list_ref(struct arg_list *list)
{
	if (list)
		list->references++;
	return list;
}

void arg_list_unref(struct arg_list *list)
{
	if (!list || --list->references)
		return;
	/* A name and its value share one allocation, which begins with the name. */
	for (size_t i = 0; i < list->count; i++)
		free((char *)(uintptr_t)list->items[i].name);
	free(list->items);
	free(list);
}

void arg_list_add(struct arg_list *list, const char *name, const char *value)
{
	const size_t name_size = strlen(name) + 1, value_size = strlen(value) + 1;
	char *both = xmalloc(name_size + value_size);

	memcpy(both, name, name_size);
	memcpy(both + name_size, value, value_size);
	ARRAY_GROW(list->items, list->capacity, list->count);
	list->items[list->count++] = (struct call_arg){both, both + name_size};
}

struct arg_list *arg_list_copy(const struct arg_list *list)
{
	struct arg_list *copy = arg_list_new();

	for (size_t i = 0; list && i < list->count; i++)
		arg_list_add(copy, list->items[i].name, list->items[i].value);
	return copy;
}
