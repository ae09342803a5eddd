#include "config.h"
#include "calls/probes/pattern_probes.h"
#include "calls/probes/chosen_libraries.h"
#include "calls/probes/manual_symbols.h"
#include "calls/probes/function_patterns.h"
#include "calls/probes/function_start.h"
#include "calls/probes/probes.h"
#include "base/msg.h"

#include <stdlib.h>
#include <string.h>

/* Probes the functions that match patterns. A symbol that matches a wildcard is skipped if it is not a function, or if
 * is_part() excludes it. */

struct pattern_probes_finding {
	struct process *p;
	struct object *object;
	struct patterns *patterns;
	const bool *chosen; /* for each pattern: whether it applies to the object */
};

/* ---- Names ---- */

static bool pattern_probes_begins_with(const char *text, const char *beginning)
{
	return !strncmp(text, beginning, strlen(beginning));
}

/* Returns true if wildcards do not match the symbol, because it is no function that the program's source calls. Its
 * code is reached only by jumps, so that the top of the stack is not a return address: a separate part of a function,
 * or code to which the kernel, the dynamic linker or the end of a signal handler jumps. Or its code is a compiler's
 * helper. */
static bool is_part(const struct arch *arch, const char *symbol)
{
	static const char *const beginnings[] = {"_dl_runtime_resolve", "_dl_runtime_profile"};
	static const char *const names[] = {"_start",    "_dl_start_user",        "__restore_rt",
					    "__restore", "__default_sa_restorer", "__default_rt_sa_restorer"};
	const char *const cold = strstr(symbol, ".cold");

	if (cold && (!cold[5] || cold[5] == '.'))
		return true;
	if (arch->code.pc_thunk && pattern_probes_begins_with(symbol, arch->code.pc_thunk))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (pattern_probes_begins_with(symbol, beginnings[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(symbol, names[i]))
			return true;
	return false;
}

static void probe_matched(const struct pattern_probes_finding *finding, size_t index, const struct elf_symbol *symbol)
{
	struct pattern *const pattern = &finding->patterns->items[index];
	const struct object *object = finding->object;
	const struct probe_spec *wanted = pattern->wanted;

	/* -L chooses the functions that are traced, but not the context functions around them. */
	if (!wanted->hook && !chosen_libraries_choose(finding->p->tracer->wanted, object))
		return;
	pattern->is_found = true;
	probe_at(finding->p,
		 &(struct probe){.wanted = wanted,
				 .traced = {.shown = wanted->function->name
							     ? wanted->shown
							     : patterns_shown(finding->patterns, symbol->name)},
				 .start = symbol->value + object->bias,
				 .size = symbol->size,
				 .object = object,
				 .is_resolver = symbol->is_ifunc});
}

static void probe_named_so(const struct pattern_probes_finding *finding, const char *name,
			   const struct elf_symbol *symbol, const struct symbol_names *names)
{
	for (const struct pattern *pattern = patterns_named(finding->patterns, name); pattern;
	     pattern = pattern->alike) {
		const size_t index = (size_t)(pattern - finding->patterns->items);

		if (finding->chosen[index] && pattern_matches(pattern, names))
			probe_matched(finding, index, symbol);
	}
}

static bool pattern_probes_is_named(const struct patterns *patterns, const char *name, const struct symbol_names *names)
{
	for (const struct pattern *pattern = patterns_named(patterns, name); pattern; pattern = pattern->alike)
		if (pattern_matches(pattern, names))
			return true;
	return false;
}

/* Returns true if any pattern matches the symbol, no matter in which object. */
static bool pattern_probes_is_chosen(void *context, const struct elf_symbol *symbol)
{
	const struct pattern_probes_finding *finding = context;
	const struct patterns *patterns = finding->patterns;
	const bool is_function = !symbol->is_untyped && !is_part(finding->p->arch, symbol->name);
	struct symbol_names names;

	symbol_names_find(&names, symbol->name, patterns->any_parameters);
	bool found = pattern_probes_is_named(patterns, names.symbol, &names) ||
		     pattern_probes_is_named(patterns, names.base, &names) ||
		     pattern_probes_is_named(patterns, names.plain, &names) ||
		     pattern_probes_is_named(patterns, names.whole, &names);

	for (size_t i = 0; is_function && !found && i < patterns->glob_count; i++)
		found = pattern_matches(&patterns->items[patterns->globs[i]], &names);
	symbol_names_free(&names);
	return found;
}

static void pattern_probes_on_symbol(void *context, const struct elf_symbol *symbol)
{
	const struct pattern_probes_finding *finding = context;
	const bool is_function = !symbol->is_untyped && !is_part(finding->p->arch, symbol->name);
	struct symbol_names names;

	if (!object_text_at(finding->object, symbol->value + finding->object->bias))
		return;
	symbol_names_find(&names, symbol->name, finding->patterns->any_parameters);
	probe_named_so(finding, names.symbol, symbol, &names);
	probe_named_so(finding, names.base, symbol, &names);
	probe_named_so(finding, names.plain, symbol, &names);
	probe_named_so(finding, names.whole, symbol, &names);
	for (size_t i = 0; is_function && i < finding->patterns->glob_count; i++) {
		const size_t index = finding->patterns->globs[i];

		if (finding->chosen[index] && pattern_matches(&finding->patterns->items[index], &names))
			probe_matched(finding, index, symbol);
	}
	symbol_names_free(&names);
}

/* ---- Addresses ---- */

/* Prints a warning that no function of the object begins at the address in the table row. */
static void report_place(const struct pattern_probes_finding *finding, struct pattern *pattern, enum place place,
			 uint64_t start)
{
	const char *const advice = "give the function's address in the file, as nm or objdump print it";
	const char *const path = finding->object->path;

	if (pattern->is_reported)
		return;
	pattern->is_reported = true;
	if (place == PLACE_NO_CODE)
		msg_warn("%s has no code at 0x%llx: %s", path, (unsigned long long)pattern->address, advice);
	else
		msg_warn("address 0x%llx of %s is not traced: no function begins there, the address is inside the "
			 "function at 0x%llx; %s",
			 (unsigned long long)pattern->address, path,
			 (unsigned long long)(start - finding->object->bias), advice);
}

static const char *address_name(const struct pattern_probes_finding *finding, const struct pattern *pattern,
				const struct elf_symbol *symbol)
{
	if (pattern->wanted->function->name)
		return pattern->wanted->shown;
	if (symbol)
		return patterns_shown(finding->patterns, symbol->name);
	char *const text =
		xasprintf("%s!0x%llx", path_name(finding->object->path), (unsigned long long)pattern->address);

	const char *const shown = patterns_keep(finding->patterns, text);

	free(text);
	return shown;
}

static void probe_address(const struct pattern_probes_finding *finding, struct pattern *pattern)
{
	struct process *p = finding->p;
	const struct object *object = finding->object;
	const struct elf_symbol *symbol;
	uint64_t start = 0;
	const enum place place = place_of(p, object, pattern->address + object->bias, &start, &symbol);
	const bool is_meant = !pattern->of_program || manual_symbols_mean(p);

	if (place_is_probed(place, is_meant)) {
		if (!pattern->wanted->hook && !chosen_libraries_choose(p->tracer->wanted, object))
			return;
		pattern->is_found = true;
		probe_at(p, &(struct probe){.wanted = pattern->wanted,
					    .traced = {.shown = address_name(finding, pattern, symbol)},
					    .start = (symbol ? symbol->value : pattern->address) + object->bias,
					    .size = symbol ? symbol->size : 0,
					    .object = object,
					    .is_resolver = symbol && symbol->is_ifunc});
	} else if (is_meant && !pattern->is_found) {
		report_place(finding, pattern, place, start);
	}
}

void probe_patterns(struct process *p, struct object *object)
{
	struct patterns *patterns = p->tracer->wanted->patterns;
	bool any_name = false;

	if (!patterns)
		return;
	bool *const chosen = xcalloc(patterns->count, sizeof(*chosen));
	struct pattern_probes_finding finding = {.p = p, .object = object, .patterns = patterns, .chosen = chosen};

	for (size_t i = 0; i < patterns->count; i++) {
		struct pattern *pattern = &patterns->items[i];

		chosen[i] = pattern_chooses(pattern, p, object);
		any_name |= chosen[i] && pattern->name;
		if (chosen[i] && !pattern->name)
			probe_address(&finding, pattern);
	}
	if (any_name)
		object_chosen_functions(object, pattern_probes_is_chosen, pattern_probes_on_symbol, &finding);
	for (size_t i = 0; i < patterns->count; i++)
		if (chosen[i])
			pattern_saw(&patterns->items[i], p, object);
	free(chosen);
}
