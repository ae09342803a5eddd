#include "config.h"
#include "modules/conf/conf_parse.h"
#include "modules/check.h"
#include "modules/module_texts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS_SUFFIX "-calls"

/* ---- Statements ---- */

static bool take_version(struct conf *conf, struct lexer *lexer)
{
	char text[16] = "", end;
	unsigned major, minor = 0;
	const struct token token = lexer->token;

	if (token.kind != TOKEN_END && token.length < sizeof(text))
		memcpy(text, token.text, token.length);
	const int count = sscanf(text, "%5u.%5u%c", &major, &minor, &end);

	if (!isdigit((unsigned char)text[0]) || count < 1 || count > 2 || (count == 1 && strchr(text, '.')) ||
	    major > UINT16_MAX || minor > UINT16_MAX)
		return lexer_error(lexer, "%s is no version; write it as 1 or 1.2", lexer_shown(lexer));
	conf->module.version_major = (unsigned short)major;
	conf->module.version_minor = (unsigned short)minor;
	lexer_next(lexer);
	return true;
}

static bool take_text_word(struct conf *conf, struct lexer *lexer, const char *word, const char **text)
{
	if (!lexer_take_sign(lexer, "="))
		return lexer_error(lexer, "found %s where '=' is expected: write %s=...", lexer_shown(lexer), word);
	return (*text = conf_take_text(conf, lexer, word)) != NULL;
}

static bool take_module_word(struct conf *conf, struct lexer *lexer)
{
	if (lexer_take_word(lexer, "families"))
		return take_text_word(conf, lexer, "families", &conf->module.families);
	if (lexer_take_word(lexer, "symbols"))
		return take_text_word(conf, lexer, "symbols", &conf->module.symbols);
	if (!lexer_take_word(lexer, "version"))
		return lexer_error(lexer,
				   "%s is unexpected: a module has a name, a \"summary\", version=, families= and "
				   "symbols=",
				   lexer_shown(lexer));
	return lexer_take_sign(lexer, "=") ? take_version(conf, lexer)
					   : lexer_error(lexer, "a version is written version=1.2");
}

/* Parses: module mypool "objects of my pool" version=1.2 */
static bool conf_take_module(struct conf *conf, struct lexer *lexer)
{
	struct module *const module = &conf->module;

	if (module->name)
		return lexer_error(lexer,
				   "a file describes only one module, and this file "
				   "already names it '%s'",
				   module->name);
	if (!(module->name = conf_take_name(conf, lexer, "name of a module")))
		return false;
	if (lexer->token.kind == TOKEN_STRING && !(module->summary = conf_take_text(conf, lexer, "the summary")))
		return false;
	while (lexer->token.kind != TOKEN_END)
		if (!take_module_word(conf, lexer))
			return false;
	return !lexer->failed;
}

static bool take_resource_word(struct conf *conf, struct lexer *lexer, struct resource *resource)
{
	static const struct {
		const char *word;
		size_t text, flag; /* offset of the field in struct resource; one of the two is 0 */
	} words[] = {
		{"noun", offsetof(struct resource, noun), 0},
		{"unit", offsetof(struct resource, unit), 0},
		{"left", offsetof(struct resource, left), 0},
		{"keeper", offsetof(struct resource, keeper), 0},
		{"zero-is-id", 0, offsetof(struct resource, zero_is_id)},
		{"range", 0, offsetof(struct resource, is_range)},
		{"group", 0, offsetof(struct resource, of_group)},
		{"ends-in-child", 0, offsetof(struct resource, ends_in_child)},
		{"folds-in-object", 0, offsetof(struct resource, folds_in_object)},
		{"nested", 0, offsetof(struct resource, is_nested)},
	};

	if (lexer_take_word(lexer, "refcount"))
		return resource->flags |= KIND_REFCOUNT, true;
	if (lexer_take_word(lexer, "calls"))
		return resource->flags |= KIND_CALL, true;
	if (lexer_take_word(lexer, "descriptors"))
		return resource->existing = EXISTING_DESCRIPTORS, true;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!lexer_take_word(lexer, words[i].word))
			continue;
		if (words[i].flag)
			return *(bool *)((char *)resource + words[i].flag) = true;
		return take_text_word(conf, lexer, words[i].word, (const char **)((char *)resource + words[i].text));
	}
	return lexer_error(
		lexer,
		"%s is no property of a resource; its properties are noun=, unit=, left=, keeper=, refcount, calls, "
		"zero-is-id, range, group, ends-in-child, folds-in-object, nested and descriptors",
		lexer_shown(lexer));
}

/* Parses: resource object "objects of the pool" noun=object unit=byte */
static bool conf_take_resource(struct conf *conf, struct lexer *lexer)
{
	struct resource resource = {0};
	const struct token type = lexer->token;

	if (conf->resource_count == MODULE_RESOURCES_MAX)
		return lexer_error(lexer, "a file has at most %d resources", MODULE_RESOURCES_MAX);
	if (type.kind != TOKEN_END && conf_resource(conf, type.text, type.length) >= 0)
		return lexer_error(lexer, "a resource %s is described already", lexer_shown(lexer));
	if (!(resource.type = conf_take_name(conf, lexer, "type of a resource")))
		return false;
	if (lexer->token.kind == TOKEN_STRING && !(resource.desc = conf_take_text(conf, lexer, "the description")))
		return false;
	while (lexer->token.kind != TOKEN_END) {
		if (!take_resource_word(conf, lexer, &resource))
			return false;
		lexer_take_sign(lexer, ",");
	}
	if (lexer->failed)
		return false;
	if (resource.flags == (KIND_REFCOUNT | KIND_CALL) || (resource.flags && resource.is_range))
		return lexer_error(lexer, "a resource can have only one of the words refcount, calls and range");
	ARRAY_GROW(conf->resources, conf->resource_capacity, conf->resource_count);
	conf->resources[conf->resource_count++] = resource;
	return true;
}

/* Parses: prefixes je_ mi_ */
static bool take_prefixes(struct conf *conf, struct lexer *lexer)
{
	do {
		const char *const prefix = conf_take_name(conf, lexer, "prefix");

		if (!prefix)
			return false;
		ARRAY_GROW(conf->prefixes, conf->prefix_capacity, conf->prefix_count);
		conf->prefixes[conf->prefix_count++] = prefix;
		lexer_take_sign(lexer, ",");
	} while (lexer->token.kind != TOKEN_END);
	return !lexer->failed;
}

static void take_statements(struct conf *conf, struct lexer *lexer, const char *at, const char *end);

/* Parses: include constants */
static bool take_include(struct conf *conf, struct lexer *lexer)
{
	struct lexer inner = {.path = "constants.conf", .conf = conf, .said = lexer->said};
	const char *const text = module_texts[module_text_find("constants")].text;

	if (!lexer_take_word(lexer, "constants") || lexer->token.kind != TOKEN_END)
		return lexer_error(lexer, "%s cannot be included; the only such statement is 'include constants'",
				   lexer_shown(lexer));
	take_statements(conf, &inner, text, text + strlen(text));
	lexer->errors += inner.errors;
	return !inner.errors;
}

static void take_statement(struct conf *conf, struct lexer *lexer)
{
	const unsigned line = lexer->token.line;

	if (lexer_take_word(lexer, "module")) {
		conf_take_module(conf, lexer);
	} else if (lexer_take_word(lexer, "resource")) {
		conf_take_resource(conf, lexer);
	} else if (lexer_take_word(lexer, "prefixes")) {
		take_prefixes(conf, lexer);
	} else if (lexer_take_word(lexer, "include")) {
		take_include(conf, lexer);
	} else if (lexer_take_word(lexer, "enum")) {
		conf_take_words(conf, lexer, false);
	} else if (lexer_take_word(lexer, "flags")) {
		conf_take_words(conf, lexer, true);
	} else if (lexer_take_word(lexer, "union")) {
		conf_take_union(conf, lexer);
	} else if (lexer_take_word(lexer, "alloc")) {
		conf_take_row(conf, lexer, ROLE_ALLOC, line);
	} else if (lexer_take_word(lexer, "free")) {
		conf_take_row(conf, lexer, ROLE_RELEASE, line);
	} else if (lexer_take_word(lexer, "realloc")) {
		conf_take_row(conf, lexer, ROLE_REALLOC, line);
	} else if (lexer_take_word(lexer, "call")) {
		conf_take_row(conf, lexer, ROLE_CALL, line);
	} else {
		lexer_error(lexer,
			    "%s begins no statement; statements begin with module, resource, prefixes, include, enum, "
			    "flags, union, alloc, free, realloc or call",
			    lexer_shown(lexer));
	}
}

/* Returns true if a line begins a statement. Statements begin in the first column. A line that is indented, blank, a
 * comment or the end of an enum belongs to the previous statement. */
static bool is_begin(const char *line)
{
	return !strchr(" \t\r\n#}", *line);
}

static const char *line_end(const char *at, const char *end)
{
	const char *const newline = memchr(at, '\n', (size_t)(end - at));

	return newline ? newline + 1 : end;
}

static void take_statements(struct conf *conf, struct lexer *lexer, const char *at, const char *end)
{
	unsigned line = 1;

	/* Skips UTF-8's byte order mark. */
	if (end - at >= 3 && !memcmp(at, "\xef\xbb\xbf", 3))
		at += 3;
	while (at < end) {
		const char *const begin = at;
		const unsigned first = line;

		do {
			at = line_end(at, end);
			line++;
		} while (at < end && !is_begin(at));
		lexer_begin(lexer, begin, at, first);
		if (is_begin(begin))
			take_statement(conf, lexer);
		else if (lexer->token.kind != TOKEN_END)
			lexer_error(lexer,
				    "%s is indented, which continues a statement, but no statement is above it: begin "
				    "statements in the first column",
				    lexer_shown(lexer));
	}
	lexer->line = line;
}

/* ---- The whole file ---- */

static bool is_living(const struct resource *resource)
{
	return !(resource->flags & KIND_CALL);
}

static void conf_add_resource(struct conf *conf, const char *suffix, unsigned flags, const char *noun)
{
	char *const type = xasprintf("%s%s", conf->module.name, suffix);

	ARRAY_GROW(conf->resources, conf->resource_capacity, conf->resource_count);
	conf->resources[conf->resource_count++] =
		(struct resource){.type = conf_keep(conf, type, strlen(type)), .flags = flags, .noun = noun};
	free(type);
}

/* Returns the index of the resource for rows that name none: the only resource with KIND_CALL if is_call, else the only
 * resource without it. Adds the resource if there is none. Returns -1 if there are several. */
static int only_resource(struct conf *conf, bool is_call)
{
	int found = -1;

	for (size_t i = 0; i < conf->resource_count; i++) {
		if (is_living(&conf->resources[i]) == is_call)
			continue;
		if (found >= 0)
			return -1;
		found = (int)i;
	}
	if (found >= 0)
		return found;
	conf_add_resource(conf, is_call ? CALLS_SUFFIX : "", is_call ? KIND_CALL : 0, is_call ? "call" : "object");
	return (int)conf->resource_count - 1;
}

static void settle_row(struct conf *conf, struct lexer *lexer, struct conf_row *row)
{
	struct function *const f = &row->function;
	const bool is_call = f->role == ROLE_CALL;

	lexer->failed = false;
	if (!row->has_resource) {
		const int index = only_resource(conf, is_call);

		if (index < 0) {
			lexer_error_on(lexer, row->line,
				       "there are several resources: name one of them with resource=TYPE");
			return;
		}
		f->resource = (unsigned char)index;
	}
	const struct resource *const resource = &conf->resources[f->resource];

	if (is_living(resource) == is_call)
		lexer_error_on(lexer, row->line,
			       is_call ? "the resource '%s' is allocated and released: a 'call' needs a resource with "
					 "the word calls"
				       : "the resource '%s' has the word calls, so no function allocates or releases "
					 "it: use 'call'",
			       resource->type);
	else if (!resource->is_range && (f->extent.kind || f->replaces.test))
		lexer_error_on(lexer, row->line, "extent and replaces-if need a resource with the word range");
	else if (!row->has_size && resource->unit && !is_call && f->role != ROLE_RELEASE &&
		 !(resource->flags & KIND_REFCOUNT))
		lexer_error_on(lexer, row->line, "the size is missing: add size=..., because '%s' is counted in %ss",
			       resource->type, resource->unit);
	else if (f->symbol[0] == '*' && !f->is_pattern && !conf->prefix_count)
		lexer_error_on(lexer, row->line,
			       "the file has no prefixes: name them in a line like 'prefixes je_ mi_'");
}

static int by_symbol(const void *a, const void *b)
{
	const struct conf_row *const x = *(const struct conf_row *const *)a, *const y =
										     *(const struct conf_row *const *)b;
	const int order = strcmp(x->function.symbol, y->function.symbol);

	if (order)
		return order;
	if (x->function.resource != y->function.resource)
		return x->function.resource < y->function.resource ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* Reports functions that have more than one row for a resource. */
static void check_twice(const struct conf *conf, struct lexer *lexer)
{
	const struct conf_row **rows = xcalloc(conf->row_count, sizeof(struct conf_row *));

	for (size_t i = 0; i < conf->row_count; i++)
		rows[i] = &conf->rows[i];
	qsort(rows, conf->row_count, sizeof(struct conf_row *), by_symbol);
	for (size_t i = 1; i < conf->row_count; i++) {
		const struct function *const a = &rows[i - 1]->function, *const b = &rows[i]->function;

		if (strcmp(a->symbol, b->symbol) || a->resource != b->resource)
			continue;
		lexer->failed = false;
		lexer_error_on(lexer, rows[i]->line,
			       "'%s' is described in line %u already; a function has one line for each resource",
			       b->symbol, rows[i - 1]->line);
	}
	free(rows);
}

/* Sets the noun and the description of a resource if they are missing. Sets the unit, if it is missing, to bytes if all
 * rows that allocate the resource have a size, and not all of these sizes are constants. */
static void settle_resource(struct conf *conf, size_t index)
{
	struct resource *const resource = &conf->resources[index];
	bool has_all = true, has_variable = false;

	for (size_t i = 0; i < conf->row_count; i++) {
		const struct function *const f = &conf->rows[i].function;

		if (f->resource != index || (f->role != ROLE_ALLOC && f->role != ROLE_REALLOC))
			continue;
		has_all &= conf->rows[i].has_size;
		has_variable |= f->size.kind != VALUE_NONE && f->size.kind != VALUE_CONST;
	}
	if (!resource->noun)
		resource->noun = resource->type;
	if (!resource->desc)
		resource->desc = conf->module.summary;
	if (!resource->unit && has_all && has_variable)
		resource->unit = "byte";
}

static void name_module(struct conf *conf, struct lexer *lexer)
{
	const char *const name = path_name(lexer->path), *const dot = strrchr(name, '.');
	const size_t length = dot && dot > name ? (size_t)(dot - name) : strlen(name);

	if (conf->module.name)
		return;
	conf->module.name = conf_keep(conf, name, length);
	if (!module_is_name(conf->module.name))
		lexer_error_on(lexer, 1,
			       "the file's name cannot be the module's name: add a line 'module NAME' with a name of "
			       "letters, digits, '_', '.' and '-'");
}

static void summarise(struct conf *conf, const struct lexer *lexer)
{
	if (!conf->module.summary) {
		char *const summary = xasprintf("described in %.100s", lexer->path);

		conf->module.summary = conf_keep(conf, summary, strlen(summary));
		free(summary);
	}
}

static void conf_finish(struct conf *conf, struct lexer *lexer)
{
	struct module *const module = &conf->module;

	lexer->failed = false;
	if (!conf->row_count && !lexer->errors)
		lexer_error_on(lexer, lexer->line > 1 ? lexer->line - 1 : 1,
			       "no function is described; add a line like 'alloc void *get(size_t size): id=return, "
			       "size=size'");
	name_module(conf, lexer);
	summarise(conf, lexer);
	for (size_t i = 0; i < conf->row_count; i++)
		settle_row(conf, lexer, &conf->rows[i]);
	check_twice(conf, lexer);
	for (size_t i = 0; i < conf->resource_count; i++)
		settle_resource(conf, i);
	ARRAY_GROW(conf->prefixes, conf->prefix_capacity, conf->prefix_count);
	conf->prefixes[conf->prefix_count] = NULL;
	conf->functions = xcalloc(conf->row_count + 1, sizeof(struct function));
	for (size_t i = 0; i < conf->row_count; i++)
		conf->functions[i] = conf->rows[i].function;
	free(conf->rows);
	conf->rows = NULL;
	module->resources = conf->resources;
	module->resource_count = conf->resource_count;
	module->functions = conf->functions;
	module->function_count = conf->row_count;
	module->prefixes = conf->prefixes;
}

struct conf *conf_parse(const char *path, const char *text, size_t size, struct buf *said)
{
	struct conf *const conf = xcalloc(1, sizeof(*conf));
	struct lexer lexer = {.path = path, .conf = conf, .said = said};
	const char *const zero = size ? memchr(text, '\0', size) : NULL;

	conf->module = (struct module){.api = MODULE_API, .version_major = 1};
	if (zero) {
		unsigned line = 1;

		for (const char *at = text; at < zero; at++)
			line += *at == '\n';
		lexer_error_on(&lexer, line, "a byte of value 0: this is no text");
	} else {
		take_statements(conf, &lexer, text, text + size);
		conf_finish(conf, &lexer);
	}
	if (!lexer.errors)
		return conf;
	conf_free(conf);
	return NULL;
}

const struct module *conf_module(const struct conf *conf)
{
	return &conf->module;
}

void conf_free(struct conf *conf)
{
	for (size_t i = 0; i < conf->string_count; i++)
		free(conf->strings[i]);
	for (size_t i = 0; i < conf->words_count; i++) {
		free(conf->words[i].words);
		free(conf->words[i].cases);
	}
	free(conf->words);
	free(conf->strings);
	free(conf->resources);
	free(conf->rows);
	free(conf->functions);
	free(conf->prefixes);
	free(conf);
}
