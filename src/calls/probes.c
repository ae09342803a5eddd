#include "config.h"
#include "calls/probes.h"
#include "calls/alias.h"
#include "record/output.h"
#include "text/breakpoints.h"
#include "ptrace/memory.h"
#include "base/msg.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* The functions that the modules want, found in the objects of a process. */

#define LINKER_NOTICE "_dl_debug_state"

static const struct wanted hooks[] = {
	{.hook = HOOK_LIBRARY, .symbol = LINKER_NOTICE},
	{.hook = HOOK_SIGACTION, .symbol = "sigaction"},
};

static void wanted_add(struct wanted_list *list, const struct wanted *wanted)
{
	ARRAY_GROW(list->items, list->capacity, list->count);
	list->items[list->count++] = *wanted;
}

/* The function's name in traces; the caller frees it. */
static char *shown_name(const struct function *function)
{
	char *shown = names_demangle(function->symbol);

	if (!function->name && shown)
		return shown;
	free(shown);
	return xstrdup(function->name ? function->name : function->symbol);
}

struct wanted_list *wanted_new(const struct settings *set)
{
	struct wanted_list *list = xcalloc(1, sizeof(*list));
	uint32_t resource = 1;

	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++)
		wanted_add(list, &hooks[i]);
	for (size_t m = 0; m < set->module_count; m++) {
		const struct module *module = set->modules[m];

		for (size_t f = 0; f < module->function_count; f++) {
			const struct function *function = &module->functions[f];

			wanted_add(list, &(struct wanted){.function = function,
							  .module = module,
							  .resource = resource + function->resource,
							  .symbol = function->symbol,
							  .shown = shown_name(function)});
		}
		resource += (uint32_t)module->resource_count;
	}
	for (size_t i = 0; i < list->count; i++)
		hash_set(&list->names, hash_bytes(list->items[i].symbol, strlen(list->items[i].symbol)), i);
	return list;
}

void wanted_free(struct wanted_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].shown);
	free(list->items);
	hash_free(&list->names);
	free(list);
}

static const struct wanted *wanted_exact(const struct tracer *t, const char *name)
{
	const uint64_t *index = hash_get(&t->wanted->names, hash_bytes(name, strlen(name)));

	return index && !strcmp(t->wanted->items[*index].symbol, name) ? &t->wanted->items[*index] : NULL;
}

/* je_malloc for "*malloc" where "je_" is one of the module's prefixes. */
static const struct wanted *wanted_prefixed(const struct tracer *t, const char *name)
{
	char pattern[64] = "*";

	for (size_t m = 0; m < t->set->module_count; m++) {
		const char *const *prefix = t->set->modules[m]->prefixes;

		for (; prefix && *prefix; prefix++) {
			const size_t length = strlen(*prefix);

			if (strncmp(name, *prefix, length) || strlen(name + length) > 60)
				continue;
			strcpy(pattern + 1, name + length);
			const struct wanted *wanted = wanted_exact(t, pattern);

			if (wanted)
				return wanted;
		}
	}
	return NULL;
}

static bool is_wanted(const struct tracer *t, const char *symbol)
{
	return wanted_exact(t, symbol) || wanted_prefixed(t, symbol);
}

static bool library_selected(const struct tracer *t, const struct object *object)
{
	if (!t->set->library_count)
		return true;
	for (size_t i = 0; i < t->set->library_count; i++)
		if (strstr(object->path, t->set->libraries[i]))
			return true;
	return false;
}

static void probe_failed(struct process *p, const struct probe *probe)
{
	const struct text_range *text = object_text_at(probe->object, probe->start);
	unsigned char byte;

	/* What cannot be read has gone, or goes: the process ends. */
	if (probe->wanted->hook || memory_read(p, probe->start, &byte, 1) < 0)
		return;
	p->trace->counts.failed_probes++;
	output_note(p->trace, "not traced: %s in %s: no breakpoint can be set there", probe->traced.shown,
		    probe->object->path);
	msg_warn("%s in %s is not traced: no breakpoint can be set there%s", probe->traced.shown, probe->object->path,
		 text && text->shared ? " (its text is shared with other processes)"
				      : " (another program's may be there: perf, bpftrace and other users of uprobes "
					"put theirs into every process)");
}

const struct probe *probe_around(const struct process *p, uint64_t address)
{
	const struct probe_list *list = p->probes;

	for (size_t i = 0; i < list->count; i++)
		if (address > list->items[i]->start && address <= list->items[i]->start + list->items[i]->size)
			return list->items[i];
	return NULL;
}

uint64_t probe_entry(struct process *p, uint64_t start)
{
	const struct breakpoint *known = breakpoint_find(p, start);
	unsigned char code[ARCH_INSN_MAX];

	if (memory_read(p, arch_text_address(p->arch, start), code, sizeof(code)) < 0)
		return start;
	if (known && known->inserted)
		memcpy(code, known->original, known->size);
	return p->arch->entry(start, code, sizeof(code));
}

static void probe_add(struct process *p, struct breakpoint *b, const struct probe *probe)
{
	struct probe_list *list = p->probes;

	b->probe = xmalloc(sizeof(*b->probe));
	*b->probe = *probe;
	ARRAY_GROW(list->items, list->capacity, list->count);
	list->items[list->count++] = b->probe;
}

static void probe_new(struct process *p, struct breakpoint *b, const struct probe *probe)
{
	const struct wanted *wanted = probe->wanted;

	probe_add(p, b, probe);
	b->probe->start = arch_text_address(p->arch, probe->start);
	b->probe->traced = (struct traced){
		.function = wanted->function, .resource = wanted->resource, .shown = probe->traced.shown};
	p->probes->releases += wanted->function && wanted->function->role == ROLE_RELEASE;
}

/* Another name of the same function. The module's order decides which of several names is shown where a call does not
 * tell its own. */
static void probe_merge(struct process *p, struct probe *known, const struct probe *other)
{
	const char *family = other->wanted->function ? other->wanted->function->family : NULL;
	const char *own = known->wanted->function ? known->wanted->function->family : NULL;

	alias_add(p, known, other);
	known->traced.any_family |= family && own && strcmp(family, own);
	if (other->wanted < known->wanted) {
		known->wanted = other->wanted;
		known->traced.function = other->wanted->function;
		known->traced.resource = other->wanted->resource;
		known->traced.shown = other->traced.shown;
	}
	alias_compare(p, known);
}

void probe_copy(struct process *p, struct breakpoint *b, const struct probe *from)
{
	probe_add(p, b, from);
	b->probe->aliases = aliases_copy(from->aliases);
	b->probe->object = objects_find(&p->objects, b->address);
}

void probe_forget(struct process *p, struct breakpoint *b)
{
	struct probe_list *list = p->probes;

	for (size_t i = 0; b->probe && i < list->count; i++)
		if (list->items[i] == b->probe) {
			list->items[i] = list->items[--list->count];
			break;
		}
	if (b->probe)
		aliases_free(b->probe);
	free(b->probe);
	b->probe = NULL;
}

void probes_free(struct process *p)
{
	callers_free(p->probes);
	free(p->probes->items);
	free(p->probes);
	p->probes = NULL;
}

size_t probes_count(const struct process *p)
{
	size_t count = 0;

	for (size_t i = 0; i < p->probes->count; i++)
		count += !p->probes->items[i]->wanted->hook;
	return count;
}

void probe_at(struct process *p, const struct probe *probe)
{
	const uint64_t at = probe_entry(p, probe->start);
	struct breakpoint *b = breakpoint_find(p, at);
	const bool is_new = !b || !b->probe;

	/* Not new: another name of the same function, or tracing goes on after a pause. */
	b = breakpoint_insert(p, at);
	if (!b) {
		if (is_new)
			probe_failed(p, probe);
		return;
	}
	if (is_new)
		probe_new(p, b, probe);
	else
		probe_merge(p, b->probe, probe);
	msg_debug(DBG_SYMBOLS, 1, "%s at 0x%llx in %s", probe->traced.shown ? probe->traced.shown : "hook",
		  (unsigned long long)at, probe->object->path);
}

void probe_chosen(struct process *p, const struct probe *resolver, uint64_t start, const struct object *object)
{
	struct probe probe = {
		.wanted = resolver->wanted, .traced.shown = resolver->traced.shown, .start = start, .object = object};

	probe_at(p, &probe);
	for (const struct alias *alias = resolver->aliases; alias; alias = alias->next) {
		probe.wanted = alias->wanted;
		probe.traced.shown = alias->traced.shown;
		probe_at(p, &probe);
	}
}

struct finding {
	struct process *p;
	struct object *object;
};

static bool on_symbol(void *context, const struct elf_symbol *symbol)
{
	const struct finding *finding = context;
	struct tracer *t = finding->p->tracer;
	const struct wanted *wanted = wanted_exact(t, symbol->name);
	const char *shown = wanted ? wanted->shown : symbol->name;
	const uint64_t address = symbol->value + finding->object->bias;

	if (!wanted)
		wanted = wanted_prefixed(t, symbol->name);
	if (!wanted || !object_text_at(finding->object, address))
		return true;
	if (wanted->function && !library_selected(t, finding->object))
		return true;
	/* A local `malloc` is some file's own helper, but a linker may make a static program's real one
	 * local, and a prefixed allocator may well be linked in hidden. */
	if (!symbol->is_global && wanted->symbol[0] != '*' && !elf_file_is_static(finding->object->file))
		return true;
	probe_at(finding->p, &(struct probe){.wanted = wanted,
					     .traced = {.shown = shown},
					     .start = address,
					     .size = symbol->size,
					     .object = finding->object,
					     .is_resolver = symbol->is_ifunc});
	return true;
}

/* ---- IFUNCs whose resolvers ran before the attach ---- */

static const struct probe *resolver_named(const struct process *p, const char *name, uint64_t resolver)
{
	for (size_t i = 0; i < p->probes->count; i++) {
		const struct probe *probe = p->probes->items[i];

		if (probe->is_resolver &&
		    (*name ? !strcmp(name, probe->wanted->symbol) || !strcmp(name, probe->traced.shown)
			   : probe->start == resolver))
			return probe;
	}
	return NULL;
}

static bool on_slot(void *context, const char *name, uint64_t resolver, uint64_t slot)
{
	struct process *p = context;
	const struct probe *probe = resolver_named(p, name, resolver);
	uint64_t address;

	if (!probe || memory_read_pointer(p, slot, &address) < 0)
		return true;
	/* A slot that is not bound yet points to its own procedure linkage, elsewhere. */
	struct object *object = objects_find(&p->objects, address);

	if (object && object == probe->object && arch_text_address(p->arch, address) != probe->start &&
	    object_text_at(object, address))
		probe_chosen(p, probe, address, object);
	return true;
}

void probe_resolved(struct process *p)
{
	bool any = false;

	for (size_t i = 0; i < p->probes->count && !any; i++)
		any = p->probes->items[i]->is_resolver;
	for (size_t i = 0; any && i < p->objects.count; i++)
		object_slots(p->objects.items[i], p->arch->reloc_irelative, on_slot, p);
}

void probe_linker(struct process *p)
{
	const struct wanted *wanted = wanted_exact(p->tracer, LINKER_NOTICE);
	struct elf_symbol symbol;

	for (size_t i = 0; i < p->objects.count; i++) {
		const struct object *object = p->objects.items[i];

		if (elf_file_find(object->file, LINKER_NOTICE, &symbol) &&
		    object_text_at(object, symbol.value + object->bias))
			probe_at(p, &(struct probe){.wanted = wanted,
						    .start = symbol.value + object->bias,
						    .size = symbol.size,
						    .object = object});
	}
}

void probe_object(struct process *p, struct object *object)
{
	struct finding finding = {p, object};

	object->probed = true;
	elf_file_functions(object->file, on_symbol, &finding);
	callers_add(p, object, is_wanted);
}

/* ---- --symbol ---- */

static void probe_manual_symbol(struct process *p, const struct manual_symbol *symbol)
{
	struct tracer *t = p->tracer;
	const uint64_t address = symbol->address + p->program->bias;
	bool known = false;

	for (size_t w = 0; w < t->wanted->count; w++) {
		const struct wanted *wanted = &t->wanted->items[w];

		if (!wanted->function || strcmp(wanted->symbol, symbol->name))
			continue;
		known = true;
		if (object_text_at(p->program, address))
			probe_at(p, &(struct probe){.wanted = wanted,
						    .traced = {.shown = wanted->shown},
						    .start = address,
						    .object = p->program});
	}
	/* Of the first program it is meant; others may have theirs anywhere. */
	if (t->symbols_checked)
		return;
	if (!known)
		msg_warn("--symbol=%s=0x%llx: no function of this name is to be traced", symbol->name,
			 (unsigned long long)symbol->address);
	else if (!object_text_at(p->program, address))
		msg_warn("--symbol=%s=0x%llx: %s has no code there; give the function's address in the file, as nm or "
			 "objdump print it",
			 symbol->name, (unsigned long long)symbol->address, p->trace->exe);
}

void probe_manual_symbols(struct process *p)
{
	const struct settings *set = p->tracer->set;

	for (size_t i = 0; p->program && i < set->symbol_count; i++)
		probe_manual_symbol(p, &set->symbols[i]);
	p->tracer->symbols_checked |= p->program != NULL;
}
