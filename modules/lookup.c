/* What our own modules know, by name. */
#include "config.h"
#include "modules/known.h"
#include "modules/prototypes.h"

#include <string.h>

static const struct function *find_prototype(const char *symbol)
{
	static const struct function *const tables[] = {prototypes_file, prototypes_process, prototypes_text};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (const struct function *f = tables[i]; f->symbol; f++)
			if (!strcmp(f->symbol, symbol))
				return f;
	return NULL;
}

const struct function *module_known_function(const char *symbol)
{
	const struct module *module;

	for (size_t i = 0; (module = module_known(i)); i++)
		for (size_t f = 0; f < module->function_count; f++)
			if (!strcmp(module->functions[f].symbol, symbol))
				return &module->functions[f];
	return find_prototype(symbol);
}

const char *module_processor(unsigned bit)
{
	static const char *const names[] = {"x86_64", "i386", "aarch64", "armv7l"};

	return bit < sizeof(names) / sizeof(names[0]) ? names[bit] : NULL;
}
