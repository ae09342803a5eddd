/* Kinds of resource, and their ids in traces: from 1 on, in the order of -e and, within a module, of its table. */
#ifndef FT_RECORD_RESOURCE_IDS_H
#define FT_RECORD_RESOURCE_IDS_H

#include "engine/settings.h"
#include "trace/event.h"

/* One more than the last id. */
uint32_t kinds_end(const struct settings *set);
/* The kind of that id; NULL: there is none. */
const struct resource *kind_of(const struct settings *set, uint32_t id);
/* The id of the index-th resource of one of the run's modules. */
uint32_t kind_id(const struct settings *set, const struct module *module, size_t index);
/* The module that has the kind of that id; NULL: there is no such id. */
const struct module *kind_module(const struct settings *set, uint32_t id);
/* Whether those of the kind stay until they are released: not so a record of calls. */
static inline bool kind_lives(const struct resource *kind)
{
	return !(kind->flags & RESOURCE_CALL);
}
/* Whether what lives of the kind are blocks of the heap. */
static inline bool kind_has_blocks(const struct resource *kind)
{
	return kind_lives(kind) && is_heap_type(kind->type);
}

#endif
