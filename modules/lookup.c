/* Finds functions in the built-in modules, by symbol. */
#include "config.h"
#include "modules/known.h"
#include "modules/builtin.h"

#include <string.h>

static const struct function *find_function(const struct module *module, const char *symbol)
{
	for (size_t i = 0; i < module->function_count; i++)
		if (!strcmp(module->functions[i].symbol, symbol))
			return &module->functions[i];
	return NULL;
}

void module_read_all(void)
{
	for (size_t i = 0; module_known(i); i++)
		;
	builtin_module("prototypes");
}

const struct function *module_known_function(const char *symbol)
{
	const struct function *found = NULL;
	const struct module *module;

	for (size_t i = 0; !found && (module = module_known(i)); i++)
		found = find_function(module, symbol);
	return found ? found : find_function(builtin_module("prototypes"), symbol);
}
