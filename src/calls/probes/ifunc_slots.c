#include "config.h"
#include "calls/probes/ifunc_slots.h"
#include "calls/probes/probes.h"
#include "ptrace/target_memory.h"

#include <stdlib.h>
#include <string.h>

/* The indices of those probes that are resolvers. They are collected first, because resolvers are few and relocations
 * are many. */
struct resolvers {
	struct process *p;
	size_t *indices, count;
	size_t fresh; /* the first `fresh` indices are those of resolvers whose GOT slots were not looked for yet */
};

static bool is_resolver_named(const struct probe *probe, const char *name, uint64_t resolver)
{
	if (!probe->is_resolver)
		return false;
	return *name ? !strcmp(name, probe->wanted->symbol) || !strcmp(name, probe->traced.shown)
		     : probe->start == resolver;
}

static bool probes_on_slot(void *context, const char *name, uint64_t resolver, uint64_t slot)
{
	const struct resolvers *const resolvers = context;
	struct process *const p = resolvers->p;
	uint64_t address;

	for (size_t i = 0; i < resolvers->count; i++) {
		const struct probe *probe = p->probes->items[resolvers->indices[i]];

		if (!is_resolver_named(probe, name, arch_text_address(p->arch, resolver)) ||
		    memory_read_pointer(p, slot, &address) < 0)
			continue;
		/* An unbound GOT slot points to the procedure linkage table of its own object, not to the chosen
		 * function. */
		struct object *object = objects_find(&p->objects, address);

		if (object && object == probe->object && arch_text_address(p->arch, address) != probe->start &&
		    object_text_at(object, address))
			probe_chosen(p, probe, address, object);
	}
	return true;
}

static void resolvers_add(struct resolvers *resolvers, bool slots_read)
{
	struct probe_list *const list = resolvers->p->probes;

	for (size_t i = 0; i < list->count; i++)
		if (list->items[i]->is_resolver && list->items[i]->slots_read == slots_read)
			resolvers->indices[resolvers->count++] = i;
}

void probe_resolved(struct process *p)
{
	struct resolvers resolvers = {.p = p, .indices = xcalloc(p->probes->count + 1, sizeof(size_t))};

	resolvers_add(&resolvers, false);
	resolvers.fresh = resolvers.count;
	resolvers_add(&resolvers, true);
	const size_t all = resolvers.count;

	for (size_t i = 0; i < p->objects.count; i++) {
		struct object *object = p->objects.items[i];

		resolvers.count = object->slots_read ? resolvers.fresh : all;
		object->slots_read = true;
		if (resolvers.count)
			object_slots(object, p->arch->relocs.irelative, probes_on_slot, &resolvers);
	}
	for (size_t i = 0; i < resolvers.fresh; i++)
		p->probes->items[resolvers.indices[i]]->slots_read = true;
	free(resolvers.indices);
}
