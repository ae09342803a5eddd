#include "config.h"
#include "option_modules.h"
#include "record/kinds.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WORD_ALL  "all"
#define WORD_HELP "help"

static void add(struct parse *parse, const struct module *module)
{
	struct settings *const s = parse->settings;

	for (size_t i = 0; i < s->module_count; i++)
		if (s->modules[i] == module)
			return;
	ARRAY_GROW(s->modules, parse->module_capacity, s->module_count);
	s->modules[s->module_count++] = module;
}

/* Whether it has resources that stay until they are released: not so a mere record of calls. */
static bool has_living(const struct module *module)
{
	for (size_t i = 0; i < module->resource_count; i++)
		if (kind_lives(&module->resources[i]))
			return true;
	return false;
}

static int add_all(struct parse *parse)
{
	const struct module *module;

	for (size_t i = 0; (module = module_known(i)); i++)
		if (has_living(module))
			add(parse, module);
	return 0;
}

static void help_line(const char *word, const char *text)
{
	printf("%-12s %s\n", word, text);
}

static int help(struct parse *parse)
{
	const struct module *module;

	printf("What functrace can trace; -e takes several, separated by commas:\n\n");
	for (size_t i = 0; (module = module_known(i)); i++)
		help_line(module->name, module->summary);
	help_line(WORD_ALL, "all of these");
	for (size_t i = 0, left_out = 0; (module = module_known(i)); i++)
		if (!has_living(module))
			printf("%-12s %s %s\n", "", left_out++ ? "   and" : "but not", module->name);
	printf("\nfunctrace-modules(7) has their functions.\n");
	fflush(stdout);
	parse->status = 0;
	return ECANCELED;
}

static int unknown(struct parse *parse, const char *name)
{
	if (strchr(name, '='))
		return usage_error(parse,
				   "-e %s: this is strace's way to say it. functrace's -e names what to trace: -e %s",
				   name, module_names());
	return usage_error(parse, "-e %s: there is no such module; known are: %s", name, module_names());
}

int option_module(struct parse *parse, const char *name)
{
	const struct module *const module = module_find(name);

	if (module)
		return add(parse, module), 0;
	if (!strcmp(name, WORD_ALL))
		return add_all(parse);
	if (!strcmp(name, WORD_HELP))
		return help(parse);
	return unknown(parse, name);
}
