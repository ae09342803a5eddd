#include "config.h"
#include "calls/probes/function_patterns.h"
#include "base/glob.h"
#include "base/msg.h"
#include "symbols/names/names.h"

#include <stdlib.h>
#include <string.h>

/* Parses table rows by pattern, and matches them with names. */

#define NAMED_MAX 8 /* number of functions or rows that messages name one by one */
#define PROGRAM   "main"

/* A name that traces show. Events may use it after the object is unmapped, so it is kept until the end. */
struct shown_name {
	struct shown_name *next; /* the next name with the same hash */
	char text[];
};

/* ---- Rows ---- */

static const char *address_sign(const char *symbol)
{
	const char *const sign = strrchr(symbol, '!');
	uint64_t address;

	return sign && !strncasecmp(sign + 1, "0x", 2) && parse_number(sign + 1, UINT64_MAX, &address) ? sign : NULL;
}

static void patterns_set_object(struct pattern *pattern, const char *object, size_t length)
{
	pattern->of_program = !length || (length == strlen(PROGRAM) && !strncmp(object, PROGRAM, length));
	if (!pattern->of_program)
		pattern->object = xstrndup(object, length);
}

static void pattern_parse(struct pattern *pattern, const struct probe_spec *wanted)
{
	const char *const symbol = wanted->symbol, *const sign = address_sign(symbol), *const at = strrchr(symbol, '@');

	*pattern = (struct pattern){.wanted = wanted};
	if (sign) {
		parse_number(sign + 1, UINT64_MAX, &pattern->address);
		patterns_set_object(pattern, symbol, (size_t)(sign - symbol));
		return;
	}
	pattern->name = at ? xstrndup(symbol, (size_t)(at - symbol)) : xstrdup(symbol);
	if (at)
		patterns_set_object(pattern, at + 1, strlen(at + 1));
	pattern->literal = glob_literal(pattern->name);
	pattern->is_glob = pattern->name[pattern->literal];
	pattern->has_parameters = strchr(pattern->name, '(');
}

static bool is_pattern(const struct probe_spec *wanted)
{
	return wanted->function && wanted->function->is_pattern;
}

struct patterns *patterns_new(const struct probe_spec_list *list)
{
	struct patterns *patterns = xcalloc(1, sizeof(*patterns));
	size_t capacity = 0, glob_capacity = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (!is_pattern(&list->items[i]))
			continue;
		ARRAY_GROW(patterns->items, capacity, patterns->count);
		pattern_parse(&patterns->items[patterns->count], &list->items[i]);
		patterns->any_parameters |= patterns->items[patterns->count++].has_parameters;
	}
	for (size_t i = 0; i < patterns->count; i++)
		if (patterns->items[i].is_glob) {
			ARRAY_GROW(patterns->globs, glob_capacity, patterns->glob_count);
			patterns->globs[patterns->glob_count++] = i;
		}
	for (size_t i = patterns->count; i-- > 0;) {
		struct pattern *pattern = &patterns->items[i];

		if (!pattern->name || pattern->is_glob)
			continue;
		const uint64_t hash = hash_bytes(pattern->name, pattern->literal);

		pattern->alike = hash_get_ptr(&patterns->names, hash);
		hash_set_ptr(&patterns->names, hash, pattern);
	}
	if (patterns->count)
		return patterns;
	patterns_free(patterns);
	return NULL;
}

void patterns_free(struct patterns *patterns)
{
	const struct hash_entry *entry;

	if (!patterns)
		return;
	for (size_t i = 0; i < patterns->count; i++) {
		free(patterns->items[i].name);
		free(patterns->items[i].object);
		free(patterns->items[i].seen);
	}
	for (size_t i = 0; (entry = hash_next(&patterns->shown, &i));)
		for (struct shown_name *name = (struct shown_name *)(uintptr_t)entry->value, *next; name; name = next) {
			next = name->next;
			free(name);
		}
	hash_free(&patterns->shown);
	hash_free(&patterns->names);
	free(patterns->globs);
	free(patterns->items);
	free(patterns);
}

bool patterns_are_all(const struct probe_spec_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].function && !is_pattern(&list->items[i]))
			return false;
	return list->patterns != NULL;
}

const char *patterns_keep(struct patterns *patterns, const char *name)
{
	const size_t length = strlen(name);
	const uint64_t hash = hash_bytes(name, length);
	struct shown_name *const first = hash_get_ptr(&patterns->shown, hash);

	for (const struct shown_name *known = first; known; known = known->next)
		if (!strcmp(known->text, name))
			return known->text;
	struct shown_name *const kept = xmalloc(sizeof(*kept) + length + 1);

	kept->next = first;
	memcpy(kept->text, name, length + 1);
	hash_set_ptr(&patterns->shown, hash, kept);
	return kept->text;
}

const char *patterns_shown(struct patterns *patterns, const char *symbol)
{
	char *const name = names_demangle(symbol);
	const char *const shown = patterns_keep(patterns, name ? name : symbol);

	free(name);
	return shown;
}

/* ---- Matching ---- */

/* Returns the symbol without a compiler's suffix; NULL if it has none. Compilers append a suffix to a copy of a
 * function that is specialised for its callers, or whose name must differ from a name in another file. The program
 * calls the copy instead of the function. */
static char *base_name(const char *symbol)
{
	static const char *const endings[] = {".constprop.", ".isra.", ".lto_priv.", ".llvm."};
	const char *end = NULL;

	if (!strchr(symbol, '.'))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		const char *const found = strstr(symbol, endings[i]);

		if (found && found > symbol && (!end || found < end))
			end = found;
	}
	return end ? xstrndup(symbol, (size_t)(end - symbol)) : NULL;
}

void symbol_names_find(struct symbol_names *names, const char *symbol, bool wants_whole)
{
	*names = (struct symbol_names){.symbol = symbol, .base = base_name(symbol)};
	names->plain = names_demangle_plain(names->base ? names->base : symbol);
	names->whole = names->plain && wants_whole ? names_demangle(symbol) : NULL;
}

void symbol_names_free(struct symbol_names *names)
{
	free(names->base);
	free(names->plain);
	free(names->whole);
}

static bool patterns_matches(const struct pattern *pattern, const char *name)
{
	return name && !strncmp(pattern->name, name, pattern->literal) &&
	       (pattern->is_glob ? glob_matches(pattern->name, name) : !name[pattern->literal]);
}

bool pattern_matches(const struct pattern *pattern, const struct symbol_names *names)
{
	return patterns_matches(pattern, names->plain) || patterns_matches(pattern, names->symbol) ||
	       patterns_matches(pattern, names->base) ||
	       (pattern->has_parameters && patterns_matches(pattern, names->whole));
}

const struct pattern *patterns_named(const struct patterns *patterns, const char *name)
{
	return name ? hash_get_ptr(&patterns->names, hash_bytes(name, strlen(name))) : NULL;
}

/* Returns true if the kernel maps the object into each process (vdso). Such an object is searched only if the row names
 * it. */
static bool is_kernels(const struct object *object)
{
	return object->path[0] == '[';
}

bool pattern_chooses(const struct pattern *pattern, const struct process *p, const struct object *object)
{
	if (pattern->of_program)
		return object == p->program;
	return pattern->object ? strstr(object->path, pattern->object) != NULL : !is_kernels(object);
}

void pattern_saw(struct pattern *pattern, const struct process *p, const struct object *object)
{
	if (pattern->seen || (!pattern->object && object != p->program))
		return;
	pattern->seen = xstrdup(object->path);
	pattern->seen_stripped = !elf_file_has_locals(object->file);
}

bool pattern_name_is_better(const char *name, const char *than)
{
	const size_t marks = strspn(name, "_"), other_marks = strspn(than, "_");
	const size_t length = strlen(name), other_length = strlen(than);

	if (marks != other_marks)
		return marks < other_marks;
	return length != other_length ? length < other_length : strcmp(name, than) < 0;
}

/* ---- Reports ---- */

bool patterns_name_failure(struct patterns *patterns)
{
	return patterns->failures++ < NAMED_MAX;
}

/* Returns the row as the user gave it: "-x 'NAME'". The caller frees it. */
static char *how_named(const struct probe_spec_list *list, const struct probe_spec *wanted)
{
	const char *const name = wanted->function->name;
	/* An address in the program was given without an object, so the '!' is not printed. */
	const char *const symbol = wanted->symbol + (wanted->symbol[0] == '!');

	if (wanted->module == list->set->traced.chosen || wanted->hook)
		return xasprintf("%s '%s%s%s'", wanted->hook ? "--context-function" : "-x", name ? name : "",
				 name ? "=" : "", symbol);
	return xasprintf("'%s' of -e %s", wanted->symbol, wanted->module->name);
}

static void patterns_report_unmatched(const struct probe_spec_list *list, const struct pattern *pattern)
{
	char *const named = how_named(list, pattern->wanted);

	if (pattern->object && !pattern->seen)
		msg_warn("nothing matched %s: no object has %s in its path", named, pattern->object);
	else if (pattern->seen && pattern->seen_stripped)
		msg_warn("nothing matched %s: %s is stripped, so that only exported functions have names ('nm -DC "
			 "FILE' lists them), and no debug file of it was found. Give a function's address: %s=ADDRESS",
			 named, pattern->seen,
			 pattern->wanted->hook                                 ? "--context-function NAME"
			 : pattern->wanted->module == list->set->traced.chosen ? "-x NAME"
									       : "--symbol-address=NAME");
	else
		msg_warn("nothing matched %s: 'nm -C FILE' lists the names in a file, 'nm -DC FILE' the exported "
			 "names; a function that is inlined everywhere is never called (-fno-inline prevents that)",
			 named);
	free(named);
}

size_t patterns_report(const struct probe_spec_list *list)
{
	size_t count = 0;

	for (size_t i = 0; list->patterns && i < list->patterns->count; i++) {
		const struct pattern *pattern = &list->patterns->items[i];

		if (!pattern->is_found && count++ < NAMED_MAX && !pattern->is_reported)
			patterns_report_unmatched(list, pattern);
	}
	return count;
}
