/* Kinds of resource and their ids in traces. Ids are numbered from 1 on, in the order of the modules in -e and, within
 * a module, in the order of the module's table. */
#ifndef FT_RECORD_RESOURCE_IDS_H
#define FT_RECORD_RESOURCE_IDS_H

#include "engine/settings.h"
#include "trace/event.h"

/* Returns the last id plus 1. */
uint32_t kinds_end(const struct settings *set);
/* Returns the kind of resource with that id, or NULL. */
const struct resource *kind_of(const struct settings *set, uint32_t id);
/* Returns the id of the kind at `index` in the table of `module`, which must be one of the run's modules. */
uint32_t kind_id(const struct settings *set, const struct module *module, size_t index);
/* Returns the module whose table contains the kind with that id, or NULL. */
const struct module *kind_module(const struct settings *set, uint32_t id);
/* Returns true if resources of the kind are live until they are released. Returns false for kinds with RESOURCE_CALL,
 * whose calls allocate nothing. */
static inline bool kind_lives(const struct resource *kind)
{
	return !(kind->flags & RESOURCE_CALL);
}
/* Returns true if the kind's resources are blocks of the heap. */
static inline bool kind_has_blocks(const struct resource *kind)
{
	return kind_lives(kind) && is_heap_type(kind->type);
}

#endif
