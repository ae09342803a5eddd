#include "config.h"
#include "functrace/option_modules.h"
#include "base/msg.h"
#include "modules/conf/conf.h"
#include "modules/known.h"
#include "modules/module_texts.h"
#include "modules/load.h"
#include "record/resource_ids.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WORD_ALL  "all"
#define WORD_HELP "help"

/* Reports a module if its name, or the type of one of its kinds, is that of another module: traces identify modules and
 * kinds by name. */
static int module_conflict(struct parse *parse, const char *word, const struct module *module,
			   const struct module *other)
{
	if (!strcmp(other->name, module->name))
		return usage_error(
			parse,
			"-e %s: another module of -e is called '%s', too; give one of them another name (module "
			"NAME)",
			word, module->name);
	for (size_t i = 0; i < other->resource_count; i++)
		for (size_t j = 0; j < module->resource_count; j++)
			if (!strcmp(other->resources[i].type, module->resources[j].type))
				return usage_error(
					parse,
					"-e %s: resources of the type '%s' are in the module %s, too; use another "
					"type in one of the modules, or leave out one of them",
					word, module->resources[j].type, other->name);
	return 0;
}

/* Adds a module, unless it is there already. word: the word on the command line, for messages. */
static int option_modules_add(struct parse *parse, const char *word, const struct module *module)
{
	struct settings *const s = parse->settings;

	for (size_t i = 0; i < s->traced.module_count; i++)
		if (s->traced.modules[i] == module)
			return 0;
	for (size_t i = 0; i < s->traced.module_count; i++)
		if (module_conflict(parse, word, module, s->traced.modules[i]))
			return EINVAL;
	ARRAY_GROW(s->traced.modules, parse->module_capacity, s->traced.module_count);
	s->traced.modules[s->traced.module_count++] = module;
	return 0;
}

/* Returns true if a kind of the module has live resources; false for a module that only records calls. */
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
	int error = 0;

	for (size_t i = 0; !error && (module = module_known(i)); i++)
		if (has_living(module))
			error = option_modules_add(parse, WORD_ALL, module);
	return error;
}

static void help_line(const char *word, const char *text)
{
	printf("%-12s %s\n", word, text);
}

static int print_modules(struct parse *parse)
{
	const struct module *module;

	printf("What functrace can trace; -e takes several, separated by commas:\n\n");
	for (size_t i = 0; (module = module_known(i)); i++)
		help_line(module->name, module->summary);
	help_line(WORD_ALL, "all of these");
	for (size_t i = 0, left_out = 0; (module = module_known(i)); i++)
		if (!has_living(module))
			printf("%-12s %s %s\n", "", left_out++ ? "   and" : "but not", module->name);
	help_line("FILE.conf", "the resources that this file describes");
	help_line("FILE.so", "the resources that this shared object describes");
	printf("\n-e help=NAME prints the functions of one module; functrace-modules(7) describes all modules.\n");
	return options_shown(parse);
}

/* Prints the text of a module, or a text that several modules include. */
static int help_module(struct parse *parse, const char *name)
{
	const int index = module_text_find(name);

	if (index < 0)
		return usage_error(parse, "-e %s=%s: there is no such module; known are: %s", WORD_HELP, name,
				   module_names());
	fputs(module_texts[index].text, stdout);
	return options_shown(parse);
}

static int report_unknown_module(struct parse *parse, const char *name)
{
	if (strchr(name, '='))
		return usage_error(parse, "-e %s: that is strace syntax; functrace's -e takes module names: -e %s",
				   name, module_names());
	return usage_error(parse,
			   "-e %s: there is no such module (-x NAME traces a function, -e ./FILE.conf what a file "
			   "describes); known are: %s",
			   name, module_names());
}

/* ---- Modules from files ---- */

static bool option_modules_has_end(const char *name, const char *end)
{
	const size_t length = strlen(name), end_length = strlen(end);

	return length > end_length && !strcmp(name + length - end_length, end);
}

static bool option_modules_is_file(const char *name)
{
	return strchr(name, '/') || option_modules_has_end(name, ".conf") || option_modules_has_end(name, ".so");
}

static int add_described(struct parse *parse, const char *path)
{
	struct settings *const s = parse->settings;
	struct buf said = {0};
	struct conf *const conf = conf_read(path, &said);
	int error = 0;

	if (conf) {
		ARRAY_GROW(s->traced.described, parse->described_capacity, s->traced.described_count);
		s->traced.described[s->traced.described_count++] = conf;
		error = option_modules_add(parse, path, conf_module(conf));
	} else {
		msg_error("-e %s describes no module; 'man functrace-modules' explains how to write such files\n%s",
			  path, buf_str(&said));
		parse->status = STATUS_USAGE;
		error = EINVAL;
	}
	buf_free(&said);
	return error;
}

static int add_loaded(struct parse *parse, const char *path)
{
	struct buf said = {0};
	const struct module *const module = module_load(path, &said);
	const int error =
		module ? option_modules_add(parse, path, module) : usage_error(parse, "-e %s", buf_str(&said));

	buf_free(&said);
	return error;
}

int option_module(struct parse *parse, const char *name)
{
	const struct module *const module = module_find(name);

	if (module)
		return option_modules_add(parse, name, module);
	if (!strcmp(name, WORD_ALL))
		return add_all(parse);
	if (!strcmp(name, WORD_HELP))
		return print_modules(parse);
	if (!strncmp(name, WORD_HELP "=", strlen(WORD_HELP "=")))
		return help_module(parse, name + strlen(WORD_HELP "="));
	if (option_modules_is_file(name)) {
		named_files_add(&parse->files, "-e", name, false);
		return option_modules_has_end(name, ".so") ? add_loaded(parse, name) : add_described(parse, name);
	}
	return report_unknown_module(parse, name);
}
