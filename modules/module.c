#include "config.h"
#include "modules/builtin.h"
#include "modules/known.h"
#include "base/util.h"
#include "trace/event.h"

#include <stdio.h>
#include <string.h>

/* The names of all modules, in the order in which --help prints them. modules/tables/NAME.conf describes the module
 * NAME. */
static const char *const names[] = {"memory",   "file",        "thread",  "shmsysv",
				    "shmposix", "memtransfer", "gobject", "qobject"};

_Static_assert((int)KIND_REFCOUNT == RESOURCE_REFCOUNT && (int)KIND_CALL == RESOURCE_CALL, "as traces have them");

const struct module *module_known(size_t index)
{
	return index < ARRAY_SIZE(names) ? builtin_module(names[index]) : NULL;
}

const struct module *module_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name))
			return builtin_module(name);
	return NULL;
}

const struct resource *module_resource(const char *type)
{
	const struct module *module;

	for (size_t i = 0; (module = module_known(i)); i++)
		for (size_t r = 0; r < module->resource_count; r++)
			if (!strcmp(module->resources[r].type, type))
				return &module->resources[r];
	return NULL;
}

const char *module_names(void)
{
	static char text[256];
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? ", " : "", names[i]);
	return text;
}
