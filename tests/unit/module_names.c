/* Prints the symbols of all rows of functrace's modules, one a line (args_expected.py). */
#include "config.h"
#include "modules/known.h"

#include <stdio.h>

int main(void)
{
	const struct module *module;

	for (size_t i = 0; (module = module_known(i)); i++)
		for (size_t f = 0; f < module->function_count; f++)
			puts(module->functions[f].symbol);
	return 0;
}
