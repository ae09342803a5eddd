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

unsigned module_processor(const char *name)
{
	static const struct {
		const char *name;
		unsigned bit;
	} processors[] = {{"x86_64", ON_X86_64}, {"i386", ON_I386}, {"aarch64", ON_AARCH64}, {"armv7l", ON_ARM}};

	for (size_t i = 0; i < sizeof(processors) / sizeof(processors[0]); i++)
		if (!strcmp(processors[i].name, name))
			return processors[i].bit;
	return 0;
}
