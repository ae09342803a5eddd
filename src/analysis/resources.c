#include "config.h"
#include "analysis/resources.h"
#include "analysis/stage.h"
#include "base/hash.h"

#include <stdlib.h>

static struct resource_state *resources_add(struct resources *resources, uint32_t id)
{
	struct resource_state *resource = xmalloc(sizeof(*resource));

	*resource = (struct resource_state){.id = id, .type = xstrdup(""), .desc = xstrdup(""), .seed = random_seed()};
	ARRAY_GROW(resources->items, resources->capacity, resources->count);
	resources->items[resources->count++] = resource;
	hash_set_ptr(&resources->by_id, id, resource);
	return resource;
}

void resources_declare(struct resources *resources, const struct record_resource *record)
{
	struct resource_state *resource = hash_get_ptr(&resources->by_id, record->id);

	if (!resource)
		resource = resources_add(resources, record->id);
	free(resource->type);
	free(resource->desc);
	resource->type = xstrdup(string_or_empty(record->type));
	resource->desc = xstrdup(string_or_empty(record->desc));
	resource->flags = record->flags;
	if (!resource->declared)
		resources->only = resources->declared++ ? NULL : resource;
	resource->declared = true;
	resources->last = NULL;
}

struct resource_state *resources_of(struct resources *resources, uint32_t id)
{
	if (resources->last && resources->last->id == id)
		return resources->last;
	struct resource_state *resource = id ? NULL : resources->only;

	if (!resource)
		resource = hash_get_ptr(&resources->by_id, id);
	if (!resource)
		resource = resources_add(resources, id);
	resources->last = resource;
	return resource;
}

void resources_free(struct resources *resources)
{
	for (size_t i = 0; i < resources->count; i++) {
		struct resource_state *resource = resources->items[i];

		free(resource->type);
		free(resource->desc);
		free(resource->user);
		hash_free(&resource->live);
		free(resource);
	}
	free(resources->items);
	hash_free(&resources->by_id);
}
