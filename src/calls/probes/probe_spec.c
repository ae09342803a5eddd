#include "config.h"
#include "calls/probes/probe_spec.h"
#include "calls/probes/chosen_libraries.h"
#include "base/buf.h"
#include "base/msg.h"
#include "modules/known.h"
#include "calls/probes/function_patterns.h"
#include "record/resource_ids.h"
#include "symbols/names/names.h"
#include "symbols/objects/mapped_object.h"

#include <stdlib.h>
#include <string.h>

#define NAMED_MAX     8                 /* number of functions that a message names */
#define SIGMASK_INNER "pthread_sigmask" /* sigprocmask() calls this if one library contains both */

static const struct probe_spec hooks[] = {
	{.hook = HOOK_LIBRARY, .symbol = LINKER_NOTICE},
	{.hook = HOOK_SIGACTION, .symbol = "sigaction"},
	{.hook = HOOK_SIGMASK, .symbol = "sigprocmask"},
	{.hook = HOOK_SIGMASK, .symbol = SIGMASK_INNER},
	{.hook = HOOK_CONTEXT_CREATE, .symbol = "sp_context_create"},
	{.hook = HOOK_CONTEXT_ENTER, .symbol = "sp_context_enter"},
	{.hook = HOOK_CONTEXT_EXIT, .symbol = "sp_context_exit"},
};
/* Used only if a traced function may throw, or if there are context functions. */
static const struct probe_spec catch_hook = {.hook = HOOK_CATCH, .symbol = "__cxa_begin_catch"};

static void probe_spec_add(struct probe_spec_list *list, const struct probe_spec *wanted)
{
	ARRAY_GROW(list->items, list->capacity, list->count);
	list->items[list->count++] = *wanted;
}

/* Returns the function's name in traces. The caller frees it. */
static char *shown_name(const struct function *function)
{
	char *shown = function->is_pattern ? NULL : names_demangle(function->symbol);

	if (!function->name && shown)
		return shown;
	free(shown);
	return xstrdup(function->name ? function->name : function->symbol);
}

static bool has_throwing(const struct settings *set)
{
	if (set->traced.contexts)
		return true;
	for (size_t m = 0; m < set->traced.module_count; m++)
		for (size_t i = 0; i < set->traced.modules[m]->function_count; i++)
			if (set->traced.modules[m]->functions[i].throws)
				return true;
	return false;
}

static void probe_spec_module(struct probe_spec_list *list, const struct settings *set, const struct module *module)
{
	for (size_t i = 0; i < module->function_count; i++) {
		const struct function *function = &module->functions[i];

		probe_spec_add(list, &(struct probe_spec){.function = function,
							  .module = module,
							  .kind = &module->resources[function->resource],
							  .resource = kind_id(set, module, function->resource),
							  .symbol = function->symbol,
							  .shown = shown_name(function)});
	}
}

/* A call of a context function is never folded, even if another context function has called it or jumped to it. */
static const struct resource context_kind = {.is_nested = true};

static void probe_spec_contexts(struct probe_spec_list *list, const struct module *contexts)
{
	for (size_t i = 0; i < contexts->function_count; i++)
		probe_spec_add(list, &(struct probe_spec){.function = &contexts->functions[i],
							  .module = contexts,
							  .hook = HOOK_CONTEXT_FUNCTION,
							  .kind = &context_kind,
							  .symbol = contexts->functions[i].symbol,
							  .shown = shown_name(&contexts->functions[i])});
}

static uint64_t symbol_hash(const char *symbol)
{
	return hash_bytes(symbol, strlen(symbol));
}

/* Links each row to the next one of the same symbol. Goes from the last row to the first, so that the next one is
 * known. */
static void probe_spec_link(struct probe_spec_list *list)
{
	for (size_t i = list->count; i-- > 0;) {
		struct probe_spec *wanted = &list->items[i];

		if (wanted->function && wanted->function->is_pattern)
			continue;
		const uint64_t hash = symbol_hash(wanted->symbol), *next = hash_get(&list->names, hash);

		wanted->next = next ? &list->items[*next] : NULL;
		hash_set(&list->names, hash, i);
	}
}

struct probe_spec_list *probe_spec_new(const struct settings *set)
{
	struct probe_spec_list *list = xcalloc(1, sizeof(*list));

	list->set = set;
	list->libraries = chosen_libraries_new(set->traced.library_count);
	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++)
		probe_spec_add(list, &hooks[i]);
	if (has_throwing(set))
		probe_spec_add(list, &catch_hook);
	for (size_t m = 0; m < set->traced.module_count; m++)
		probe_spec_module(list, set, set->traced.modules[m]);
	if (set->traced.contexts)
		probe_spec_contexts(list, set->traced.contexts);
	probe_spec_link(list);
	list->patterns = patterns_new(list);
	/* Read the module files now. Otherwise module_known_function() would read them at a stop, while the target
	 * waits. */
	if (set->calls.args && set->traced.chosen)
		module_read_all();
	return list;
}

void probe_spec_free(struct probe_spec_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].shown);
	patterns_free(list->patterns);
	chosen_libraries_free(list->libraries, list->set->traced.library_count);
	free(list->symbols_of);
	free(list->items);
	hash_free(&list->names);
	free(list);
}

const struct probe_spec *probe_spec_hook(const struct probe_spec_list *list, enum hook hook)
{
	const struct probe_spec *wanted = list->items;

	while (wanted->hook != hook)
		wanted++;
	return wanted;
}

const struct probe_spec *probe_spec_from(const struct probe_spec *from, const char *symbol)
{
	while (from && strcmp(from->symbol, symbol))
		from = from->next;
	return from;
}

const struct probe_spec *probe_spec_exact(const struct probe_spec_list *list, const char *symbol)
{
	const uint64_t *index = hash_get(&list->names, symbol_hash(symbol));

	return index ? probe_spec_from(&list->items[*index], symbol) : NULL;
}

const struct probe_spec *probe_spec_prefixed(const struct probe_spec_list *list, const char *symbol,
					     const struct module *module, const struct probe_spec *from)
{
	char pattern[64] = "*";

	for (const char *const *prefix = module->prefixes; prefix && *prefix; prefix++) {
		const size_t length = strlen(*prefix);

		if (strncmp(symbol, *prefix, length) || strlen(symbol + length) > 60)
			continue;
		strcpy(pattern + 1, symbol + length);
		const struct probe_spec *w =
			from ? probe_spec_from(from->next, pattern) : probe_spec_exact(list, pattern);

		while (w && w->module != module)
			w = probe_spec_from(w->next, pattern);
		if (w)
			return w;
	}
	return NULL;
}

bool probe_spec_any(const struct probe_spec_list *list, const char *symbol)
{
	if (probe_spec_exact(list, symbol))
		return true;
	for (size_t m = 0; m < list->set->traced.module_count; m++)
		if (probe_spec_prefixed(list, symbol, list->set->traced.modules[m], NULL))
			return true;
	return false;
}

bool probe_spec_is_name(const void *list, const char *symbol)
{
	return probe_spec_any(list, symbol);
}

bool probe_spec_is_watched_inside(const struct probe_spec *wanted, const struct elf_file *file)
{
	struct elf_symbol symbol;

	return wanted->hook == HOOK_SIGMASK && strcmp(wanted->symbol, SIGMASK_INNER) != 0 &&
	       elf_file_find(file, SIGMASK_INNER, &symbol);
}

void probe_spec_found(struct probe_spec_list *list, const struct probe_spec *wanted)
{
	list->items[wanted - list->items].is_found = true;
}

/* ---- Functions that were not found ---- */

/* Returns true if the module is the user's own. A program is expected to contain all functions of such a module, but
 * only some functions of functrace's own modules. */
static bool is_own(const struct probe_spec_list *list, const struct module *module)
{
	return module != list->set->traced.chosen && module_find(module->name) != module;
}

static void report_module(const struct probe_spec_list *list, const struct module *module)
{
	struct buf names = {0};
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct probe_spec *const wanted = &list->items[i];

		/* Does not report rows with a prefix ("*malloc"), because a program may contain only some of these
		 * functions. */
		if (wanted->module != module || wanted->is_found || wanted->function->is_pattern ||
		    wanted->symbol[0] == '*')
			continue;
		if (count++ < NAMED_MAX)
			buf_printf(&names, "%s%s", count > 1 ? ", " : "", wanted->symbol);
	}
	if (count > NAMED_MAX)
		buf_printf(&names, " and %zu more", count - NAMED_MAX);
	if (count)
		msg_warn("-e %s: no object defines %s. 'nm -DC FILE' lists the functions that a file exports; a "
			 "function that is not exported is found by a pattern, in quotes: \"NAME\"",
			 module->name, buf_str(&names));
	buf_free(&names);
}

void probe_spec_report(const struct probe_spec_list *list)
{
	for (size_t m = 0; m < list->set->traced.module_count; m++)
		if (is_own(list, list->set->traced.modules[m]))
			report_module(list, list->set->traced.modules[m]);
}
