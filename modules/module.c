#include "config.h"
#include "modules/known.h"
#include "trace/event.h"

#include <stdio.h>
#include <string.h>

/* All of them, a line each, in the order of --help. */
#define MODULES(MODULE)                                                                                                \
	MODULE(memory)                                                                                                 \
	MODULE(file) MODULE(thread) MODULE(shmsysv) MODULE(shmposix) MODULE(memtransfer) MODULE(gobject) MODULE(qobject)

#define DECLARE(name) extern const struct module module_##name;
MODULES(DECLARE)

#define ENTRY(name) &module_##name,
static const struct module *const modules[] = {MODULES(ENTRY)};

_Static_assert((int)KIND_REFCOUNT == RESOURCE_REFCOUNT && (int)KIND_CALL == RESOURCE_CALL, "as traces have them");

const struct module *module_known(size_t index)
{
	return index < sizeof(modules) / sizeof(modules[0]) ? modules[index] : NULL;
}

const struct module *module_find(const char *name)
{
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		if (modules[i]->api == MODULE_API && !strcmp(modules[i]->name, name))
			return modules[i];
	return NULL;
}

const struct resource *module_resource(const char *type)
{
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		for (size_t r = 0; r < modules[i]->resource_count; r++)
			if (!strcmp(modules[i]->resources[r].type, type))
				return &modules[i]->resources[r];
	return NULL;
}

const char *module_names(void)
{
	static char names[256];
	size_t used = 0;

	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "", modules[i]->name);
	return names;
}
