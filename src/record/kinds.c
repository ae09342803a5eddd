#include "config.h"
#include "record/kinds.h"

#include <string.h>

uint32_t kinds_end(const struct settings *set)
{
	size_t end = 1;

	for (size_t i = 0; i < set->module_count; i++)
		end += set->modules[i]->resource_count;
	return (uint32_t)end;
}

const struct resource *kind_of(const struct settings *set, uint32_t id)
{
	size_t index = (size_t)id - 1;

	for (size_t i = 0; id && i < set->module_count; i++) {
		if (index < set->modules[i]->resource_count)
			return &set->modules[i]->resources[index];
		index -= set->modules[i]->resource_count;
	}
	return NULL;
}

uint32_t kind_id(const struct settings *set, const struct module *module, size_t index)
{
	size_t id = 1 + index;

	for (size_t i = 0; i < set->module_count && set->modules[i] != module; i++)
		id += set->modules[i]->resource_count;
	return (uint32_t)id;
}

const char *kinds_noun(const struct settings *set)
{
	const struct resource *first = NULL, *kind;

	for (uint32_t id = 1; (kind = kind_of(set, id)); id++) {
		if (!kind_lives(kind))
			continue;
		if (first && strcmp(kind->noun, first->noun))
			return "resource";
		first = kind;
	}
	return first ? first->noun : "resource";
}

char *kinds_families(const struct settings *set)
{
	for (size_t i = 0; i < set->module_count; i++)
		if (set->modules[i]->families)
			return xasprintf(" (%s)", set->modules[i]->families);
	return xstrdup("");
}
