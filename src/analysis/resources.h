/* Stores the kinds of resources that a trace declares or uses, and the live ids of each kind. */
#ifndef FT_ANALYSIS_RESOURCES_H
#define FT_ANALYSIS_RESOURCES_H

#include "base/hash.h"
#include "trace/event.h"

struct resource_state {
	uint32_t id, flags;
	bool declared;
	char *type, *desc; /* "" before the declaration */
	struct hash live;  /* id -> pointer of the struct's user */
	uint64_t seed;
	void *user; /* for the struct's user; freed with free() */
};

struct resources {
	struct resource_state **items; /* in the order of their first occurrence */
	size_t count, capacity, declared;
	struct hash by_id;
	struct resource_state *last; /* the resource that was looked up last */
	struct resource_state *only; /* the declared resource, if there is exactly one; else NULL */
};

/* Adds the resource if its id is new, and sets its type, description and flags. */
void resources_declare(struct resources *resources, const struct record_resource *record);
/* Returns the resource with that id. An unknown id is added as an undeclared resource. The id 0 means the only declared
 * resource, if there is just one. */
struct resource_state *resources_of(struct resources *resources, uint32_t id);
void resources_free(struct resources *resources);

/* Returns the pointer that the struct's user has stored for an id; NULL if the id is not live. */
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
