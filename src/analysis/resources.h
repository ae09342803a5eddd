/* The resources of a trace, and the live ids of each. */
#ifndef FT_ANALYSIS_RESOURCES_H
#define FT_ANALYSIS_RESOURCES_H

#include "base/hash.h"
#include "trace/event.h"

struct resource_state {
	uint32_t id, flags;
	bool declared;
	char *type, *desc; /* "" before it is declared */
	struct hash live;  /* id -> the owner's pointer */
	uint64_t seed;
	void *user; /* for the owner; freed with free() */
};

struct resources {
	struct resource_state **items; /* in the order in which they first came */
	size_t count, capacity, declared;
	struct hash by_id;
	struct resource_state *last; /* which was looked up last */
	struct resource_state *only; /* the declared one, if there is exactly one */
};

/* Stores what the record declares: type, description and flags. */
void resources_declare(struct resources *resources, const struct record_resource *record);
/* Returns the resource with a number. An unknown one is added as undeclared. 0 means the only declared one. */
struct resource_state *resources_of(struct resources *resources, uint32_t id);
void resources_free(struct resources *resources);

/* Returns the owner's pointer for an id, or NULL if the id is not live. */
static inline void *resource_live_get(const struct resource_state *resource, uint64_t id)
{
	return hash_get_ptr(&resource->live, id ^ resource->seed);
}

static inline void resource_live_set(struct resource_state *resource, uint64_t id, void *value)
{
	hash_set_ptr(&resource->live, id ^ resource->seed, value);
}

static inline void *resource_live_remove(struct resource_state *resource, uint64_t id)
{
	uint64_t value;

	return hash_remove(&resource->live, id ^ resource->seed, &value) ? (void *)(uintptr_t)value : NULL;
}

#endif
