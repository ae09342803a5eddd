#include "config.h"
#include "analysis/resources.h"
#include "analysis/intern.h"
#include "analysis/stage.h"

#include <stdlib.h>

static struct resource *add(struct resources *resources, uint32_t id)
{
	struct resource *resource = xmalloc(sizeof(*resource));

	*resource = (struct resource){.id = id, .type = xstrdup(""), .desc = xstrdup(""), .seed = random_seed()};
	ARRAY_GROW(resources->items, resources->capacity, resources->count);
	resources->items[resources->count++] = resource;
	hash_set_ptr(&resources->by_id, id, resource);
	return resource;
}

void resources_declare(struct resources *resources, const struct record_resource *record)
{
	struct resource *resource = hash_get_ptr(&resources->by_id, record->id);

	if (!resource)
		resource = add(resources, record->id);
	free(resource->type);
	free(resource->desc);
	resource->type = xstrdup(text_or_empty(record->type));
	resource->desc = xstrdup(text_or_empty(record->desc));
	resource->flags = record->flags;
	if (!resource->declared)
		resources->only = resources->declared++ ? NULL : resource;
	resource->declared = true;
	resources->last = NULL;
}

struct resource *resources_of(struct resources *resources, uint32_t id)
{
	if (resources->last && resources->last->id == id)
		return resources->last;
	struct resource *resource = id ? NULL : resources->only;

	if (!resource)
		resource = hash_get_ptr(&resources->by_id, id);
	if (!resource)
		resource = add(resources, id);
	resources->last = resource;
	return resource;
}

void resources_free(struct resources *resources)
{
	for (size_t i = 0; i < resources->count; i++) {
		struct resource *resource = resources->items[i];

		free(resource->type);
		free(resource->desc);
		free(resource->user);
		hash_free(&resource->live);
		free(resource);
	}
	free(resources->items);
	hash_free(&resources->by_id);
}
