#include "config.h"
#include "functrace/option_functions.h"
#include "trace/event.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX ((size_t)16 << 20) /* largest size of a file with a list of functions, in bytes */
#define ITEM_MAX 65536              /* longest item in bytes: names of symbols are read up to this length */
#define BLANKS   " \t\r\n"

struct chosen {
	struct module module; /* must be first: settings->chosen points to it */
	struct function *functions;
	size_t capacity;
};

/* The option that contains an item, and the place where the item was given. */
struct origin {
	const char *option;
	const struct module **module; /* module in the settings to which the item is added */
	const char *file;             /* path of the file with the item; NULL: it is on the command line */
	size_t line;
};

static const struct resource function_kinds[] = {
	{.type = "function",
	 .desc = "calls of chosen functions",
	 .flags = RESOURCE_CALL,
	 .noun = "call",
	 .zero_is_id = true,
	 .is_nested = true},
};

static struct chosen *chosen_of(const struct module **module)
{
	if (*module)
		return (struct chosen *)(uintptr_t)*module;
	struct chosen *const chosen = xcalloc(1, sizeof(*chosen));

	chosen->module = (struct module){.api = MODULE_API,
					 .name = "functions",
					 .summary = "calls of functions that -x names",
					 .version_major = 1,
					 .resources = function_kinds,
					 .resource_count = ARRAY_SIZE(function_kinds),
					 .symbols = "-x NAME=0xADDRESS"};
	*module = &chosen->module;
	return chosen;
}

/* Adds a function and takes over both strings. name: the function's name in the trace; NULL: the symbol's name. */
static int add_function(const struct origin *origin, char *symbol, char *name)
{
	struct chosen *const chosen = chosen_of(origin->module);

	ARRAY_GROW(chosen->functions, chosen->capacity, chosen->module.function_count);
	chosen->functions[chosen->module.function_count++] = (struct function){.symbol = symbol,
									       .is_pattern = true,
									       .name = name,
									       .role = ROLE_CALL,
									       .id = RESULT,
									       .success = OK_ALWAYS,
									       .throws = true};
	chosen->module.functions = chosen->functions;
	return 0;
}

void option_functions_free(const struct module *module)
{
	struct chosen *const chosen = (struct chosen *)(uintptr_t)module;

	if (!chosen)
		return;
	for (size_t i = 0; i < module->function_count; i++) {
		free((char *)(uintptr_t)chosen->functions[i].symbol);
		free((char *)(uintptr_t)chosen->functions[i].name);
	}
	free(chosen->functions);
	free(chosen);
}

/* ---- An item ---- */

/* Reports an error in an item. why: the end of the message's sentence, for example "gives no name". */
static int bad_item(struct parse *parse, const struct origin *origin, const char *item, const char *why)
{
	if (origin->file)
		return usage_error(parse, "%s:%zu: '%s' %s", origin->file, origin->line, item, why);
	return usage_error(parse, "%s: '%s' %s", origin->option, item, why);
}

/* Adds an item of the form [NAME=]OBJECT!ADDRESS. If the object is empty, it is the program itself. */
static int add_address(const struct origin *origin, const char *name, size_t name_length, const char *object,
		       size_t object_length, uint64_t address)
{
	return add_function(origin, xasprintf("%.*s!0x%llx", (int)object_length, object, (unsigned long long)address),
			    name_length ? xstrndup(name, name_length) : NULL);
}

/* Returns true if the '=' or '!' at `sign` is a part of the name of a C++ operator, for example operator= or
 * operator!=: only characters of operators are between the word "operator" and `sign`. */
static bool is_operators(const char *item, const char *sign)
{
	static const char word[] = "operator";
	const size_t length = strlen(word);

	while (sign > item && strchr("=!<>+-*/%^&|", sign[-1]))
		sign--;
	return (size_t)(sign - item) >= length && !memcmp(sign - length, word, length);
}

/* Returns true if a '!' or '=' is the separator before an address, and not a part of an operator or the beginning of a
 * set in a pattern ([!a-z]*). */
static bool is_address_sign(const char *item, const char *sign)
{
	return sign && !(sign > item && sign[-1] == '[') && !is_operators(item, sign);
}

static bool option_functions_has_control(const char *item)
{
	while (*item && !iscntrl((unsigned char)*item))
		item++;
	return *item;
}

static int add_item(struct parse *parse, const struct origin *origin, const char *item)
{
	const char *const equals = strrchr(item, '='), *const bang = strrchr(item, '!'), *const at = strrchr(item, '@');
	uint64_t address;

	if (option_functions_has_control(item))
		return bad_item(parse, origin, item, "has control characters in it");
	if (strlen(item) > ITEM_MAX) {
		char shown[64];

		snprintf(shown, sizeof(shown), "%.40s...", item);
		return bad_item(parse, origin, shown, "is longer than any function's name");
	}
	if (is_address_sign(item, bang)) {
		const char *const object = equals && equals < bang ? equals + 1 : item;

		if (!parse_number_hex(bang + 1, UINT64_MAX, &address))
			return bad_item(parse, origin, item,
					"gives no address after the '!': OBJECT!0xADDRESS, as nm or objdump print it "
					"for that file");
		if (object != item && equals == item)
			return bad_item(parse, origin, item, "gives no name before the '='");
		return add_address(origin, item, object == item ? 0 : (size_t)(equals - item), object,
				   (size_t)(bang - object), address);
	}
	if (is_address_sign(item, equals)) {
		if (equals == item)
			return bad_item(parse, origin, item, "gives no name before the '='");
		if (!parse_number_hex(equals + 1, UINT64_MAX, &address))
			return bad_item(parse, origin, item,
					"gives no address after the '=': NAME=0xADDRESS, as nm or objdump print it "
					"for the program's file");
		if (at && at < equals)
			return bad_item(parse, origin, item,
					"gives an object and an address: write them as NAME=OBJECT!0xADDRESS");
		return add_address(origin, item, (size_t)(equals - item), "", 0, address);
	}
	if (at && (at == item || !at[1]))
		return bad_item(parse, origin, item,
				at == item ? "gives no name before the '@'"
					   : "gives no object after the '@': NAME@OBJECT, with a part of its path, or "
					     "main for the program");
	if (strchr(item, ',') && !strpbrk(item, "(<[{"))
		return bad_item(parse, origin, item, "has commas in it; functions are separated by ';'");
	return add_function(origin, xstrdup(item), NULL);
}

/* ---- Lists ---- */

/* Returns the next item without blanks around it, which the caller frees, and moves *list after it. */
static char *option_functions_next_item(const char **list)
{
	const char *const begin = *list + strspn(*list, BLANKS);
	size_t length = strcspn(begin, ";");

	*list = begin + length + (begin[length] == ';');
	while (length && strchr(BLANKS, begin[length - 1]))
		length--;
	return xstrndup(begin, length);
}

/* Cuts off a comment. A comment begins with a # at the beginning of the line or after a blank. */
static void cut_comment(char *line)
{
	for (char *p = line; (p = strchr(p, '#')); p++)
		if (p == line || strchr(BLANKS, p[-1])) {
			*p = '\0';
			return;
		}
}

static int option_functions_add_line(struct parse *parse, const struct origin *origin, const char *line)
{
	int error = 0;

	while (*line && !error) {
		char *const item = option_functions_next_item(&line);

		if (item[0] == '@')
			error = bad_item(parse, origin, item,
					 "is a list within a list; give each file in an option of its own");
		else if (*item)
			error = add_item(parse, origin, item);
		free(item);
	}
	return error;
}

static int add_file(struct parse *parse, const struct origin *from, const char *path)
{
	struct origin origin = {.option = from->option, .module = from->module, .file = path};
	size_t size;
	int error = 0;

	if (!*path)
		return usage_error(parse, "%s @: give a file with functions, one on each line", origin.option);
	char *const text = read_file(path, LIST_MAX, &size);

	named_files_add(&parse->files, origin.option, path, false);
	if (!text)
		return usage_error(parse, "%s @%s: the file cannot be read: %s", origin.option, path,
				   errno == EFBIG ? "it is too large for a list of functions" : strerror(errno));
	if (memchr(text, '\0', size)) {
		free(text);
		return usage_error(parse, "%s @%s: this is no text; give a file with functions, one on each line",
				   origin.option, path);
	}
	for (char *line = text, *end; line && !error; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		origin.line++;
		cut_comment(line);
		error = option_functions_add_line(parse, &origin, line);
	}
	free(text);
	return error;
}

static size_t function_count(const struct module *module)
{
	return module ? module->function_count : 0;
}

static int add_list(struct parse *parse, const struct origin *origin, const char *list)
{
	const size_t before = function_count(*origin->module);
	const char *left = list;
	int error = 0;

	while (*left && !error) {
		char *const item = option_functions_next_item(&left);

		if (item[0] == '@')
			error = add_file(parse, origin, item + 1);
		else if (*item)
			error = add_item(parse, origin, item);
		free(item);
	}
	if (!error && function_count(*origin->module) == before)
		return usage_error(parse,
				   "%s %s: no function is given; give names, patterns or addresses, separated by ';': "
				   "%s 'parse;Parser::*', or a file with them: %s @FILE",
				   origin->option, *list ? list : "''", origin->option, origin->option);
	return error;
}

int option_functions(struct parse *parse, const char *list)
{
	return add_list(parse, &(struct origin){.option = "-x", .module = &parse->settings->traced.chosen}, list);
}

int option_contexts(struct parse *parse, const char *list)
{
	const struct origin origin = {.option = "--context-function", .module = &parse->settings->traced.contexts};
	const int error = add_list(parse, &origin, list);

	if (!error && function_count(*origin.module) > TRACE_CONTEXTS)
		return usage_error(parse,
				   "--context-function: more than %d functions are given, and a trace has at most "
				   "that many contexts; name fewer, or use a pattern",
				   TRACE_CONTEXTS);
	return error;
}

void option_functions_end(struct parse *parse)
{
	struct settings *const s = parse->settings;

	if (!s->traced.chosen)
		return;
	ARRAY_GROW(s->traced.modules, parse->module_capacity, s->traced.module_count);
	s->traced.modules[s->traced.module_count++] = s->traced.chosen;
}
