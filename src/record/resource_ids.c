#include "config.h"
#include "record/resource_ids.h"

uint32_t kinds_end(const struct settings *set)
{
	size_t end = 1;

	for (size_t i = 0; i < set->traced.module_count; i++)
		end += set->traced.modules[i]->resource_count;
	return (uint32_t)end;
}

const struct resource *kind_of(const struct settings *set, uint32_t id)
{
	size_t index = (size_t)id - 1;

	for (size_t i = 0; id && i < set->traced.module_count; i++) {
		if (index < set->traced.modules[i]->resource_count)
			return &set->traced.modules[i]->resources[index];
		index -= set->traced.modules[i]->resource_count;
	}
	return NULL;
}

uint32_t kind_id(const struct settings *set, const struct module *module, size_t index)
{
	size_t id = 1 + index;

	for (size_t i = 0; i < set->traced.module_count && set->traced.modules[i] != module; i++)
		id += set->traced.modules[i]->resource_count;
	return (uint32_t)id;
}

const struct module *kind_module(const struct settings *set, uint32_t id)
{
	size_t end = 1, i = 0;

	while (i < set->traced.module_count && id >= (end += set->traced.modules[i]->resource_count))
		i++;
	return i < set->traced.module_count ? set->traced.modules[i] : NULL;
}
