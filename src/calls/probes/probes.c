#include "config.h"
#include "calls/probes/probes.h"
#include "calls/probes/alias.h"
#include "calls/probes/chosen_libraries.h"
#include "calls/probes/function_patterns.h"
#include "calls/probes/probe_params.h"
#include "record/ledger.h"
#include "record/trace_output.h"
#include "breakpoints/breakpoints.h"
#include "ptrace/target_memory.h"
#include "base/msg.h"

#include <stdlib.h>
#include <string.h>

/* Manages the probes of a process, and finds the functions to be probed. */

const struct function probe_watched = {.role = ROLE_CALL, .success = OK_ALWAYS};

static const char *why_failed(struct process *p, const struct probe *probe)
{
	const struct text_range *text = object_text_at(probe->object, probe->start);
	const struct breakpoint *b = breakpoint_find(p, probe_entry(p, probe->start));

	if (text && text->shared)
		return "its code is in memory that is shared with other processes";
	if (p->arch->insns.cannot_step && b && b->insn.kind == INSN_STEP)
		return "its first instruction can be neither copied nor emulated, and the processor has no single step";
	if (b && !b->size)
		return "a breakpoint cannot replace the instruction there: it is data, a trap of the program itself, "
		       "or between an exclusive load and its store";
	if (b && b->size && b->insn.kind == INSN_COPY && !b->slot && !b->insn.can_emulate)
		return "no room is left for a copy of its first instruction, and the processor cannot step over the "
		       "original";
	return "another program's breakpoint may be there: perf, bpftrace and other users of uprobes set breakpoints "
	       "in all processes";
}

static void probe_failed(struct process *p, const struct probe *probe)
{
	unsigned char byte;

	/* Reports neither functions that are watched for the tracer's own use, nor functions whose memory cannot be
	 * read because it is unmapped or the process is ending. */
	if ((probe->wanted->hook && probe->wanted->hook != HOOK_CONTEXT_FUNCTION) ||
	    memory_read(p, probe->start, &byte, 1) < 0)
		return;
	p->trace->counts.failed_probes++;
	if (probe->wanted->function->is_pattern && !patterns_name_failure(p->tracer->wanted->patterns))
		return;
	output_note(p->trace, "not traced: %s in %s: no breakpoint can be set there", probe->traced.shown,
		    probe->object->path);
	if (!p->text->has_leftovers) /* otherwise another message has reported the cause for all functions */
		msg_warn("%s in %s is not traced: no breakpoint can be set there (%s)", probe->traced.shown,
			 probe->object->path, why_failed(p, probe));
}

const struct probe *probe_around(const struct process *p, uint64_t address, const struct probe *like)
{
	const struct probe_list *list = p->probes;
	const uint64_t place = arch_text_address(p->arch, address);
	const struct probe *other = NULL;

	for (size_t i = 0; i < list->outer_count; i++) {
		const struct probe *probe = list->outers[i];

		if (place <= probe->start || place > probe->start + probe->size)
			continue;
		if (probe_same_kind(probe, like))
			return probe;
		other = probe;
	}
	return other;
}

bool probe_is_at(const struct probe *probe, const struct breakpoint *b)
{
	const struct probe *at = b->probe;

	while (at && at != probe)
		at = at->next;
	return probe && at;
}

uint64_t probe_entry(struct process *p, uint64_t start)
{
	const struct breakpoint *known = breakpoint_find(p, start);
	unsigned char code[ARCH_INSN_MAX];

	if (memory_read(p, arch_text_address(p->arch, start), code, sizeof(code)) < 0)
		return start;
	if (known && known->inserted)
		memcpy(code, known->original, known->size);
	return p->arch->breakpoint.entry(start, code, sizeof(code));
}

/* Returns the breakpoint's probe that has the kind, or the hook, of `wanted`; NULL if there is none. */
static struct probe *probe_like(const struct breakpoint *b, const struct probe_spec *wanted)
{
	struct probe *probe = b ? b->probe : NULL;

	while (probe && (probe->wanted->resource != wanted->resource || probe->wanted->hook != wanted->hook))
		probe = probe->next;
	return probe;
}

static bool comes_before(const struct probe_spec *a, const struct probe_spec *b)
{
	return a->hook == b->hook ? a->resource < b->resource : a->hook < b->hook;
}

static bool releases_at_entry(const struct probe *probe)
{
	return probe->function->role == ROLE_RELEASE && !probe->function->can_fail;
}

/* Returns the number of argument words of a call that are needed to compute the value. */
static unsigned value_arguments(const struct value *value)
{
	switch ((enum value_kind)value->kind) { /* the compiler warns if a kind is missing */
	case VALUE_ARG:
	case VALUE_ARG_PAGES:
	case VALUE_POINTEE:
	case VALUE_ARG_SCALED:
	case VALUE_STRING_SIZE:
	case VALUE_WIDE_SIZE:
	case VALUE_NAME:
	case VALUE_LIVE_SIZE:
	case VALUE_KEPT:
		return value->a + 1u;
	case VALUE_ARG_TIMES:
		return (value->a > value->b ? value->a : value->b) + 1u;
	case VALUE_NONE:
	case VALUE_RESULT:
	case VALUE_CONST:
	case VALUE_RESULT_SCALED:
	case VALUE_RESULT_STRING_SIZE:
	case VALUE_RESULT_WIDE_SIZE:
		break;
	}
	return 0;
}

static unsigned function_arguments(const struct function *f)
{
	const struct value *const values[] = {&f->id, &f->size, &f->released, &f->last, &f->extent, &f->keeps};
	unsigned most = f->look ? CALL_ARGS : 0;

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		most = value_arguments(values[i]) > most ? value_arguments(values[i]) : most;
	for (size_t i = 0; i < FUNCTION_CONDITIONS; i++) {
		const struct condition *c = &f->conditions[i];
		const unsigned value = value_arguments(&c->value), other = value_arguments(&c->other);

		most = value > most ? value : most;
		most = other > most ? other : most;
	}
	return most;
}

unsigned probe_arguments(const struct probe *first)
{
	unsigned most = 0;

	for (const struct probe *probe = first; probe; probe = probe->next) {
		const unsigned count = probe_is_hook(probe) ? CALL_ARGS : function_arguments(probe->function);

		if (count > most)
			most = count;
	}
	return most;
}

static void list_add(struct probe_list *list, struct probe *probe)
{
	ARRAY_GROW(list->items, list->capacity, list->count);
	probe->index = list->count;
	list->items[list->count++] = probe;
	if (probe_is_nested(probe))
		return;
	ARRAY_GROW(list->outers, list->outer_capacity, list->outer_count);
	probe->outer_index = list->outer_count;
	list->outers[list->outer_count++] = probe;
}

static void list_remove(struct probe_list *list, const struct probe *probe)
{
	struct probe *const last = list->items[--list->count];

	list->items[probe->index] = last;
	last->index = probe->index;
	if (probe_is_nested(probe))
		return;
	struct probe *const last_outer = list->outers[--list->outer_count];

	list->outers[probe->outer_index] = last_outer;
	last_outer->outer_index = probe->outer_index;
}

static struct probe *probe_add(struct process *p, struct breakpoint *b, const struct probe *from)
{
	struct probe_list *list = p->probes;
	struct probe *probe = xmalloc(sizeof(*probe)), **link = &b->probe;

	while (*link && comes_before((*link)->wanted, from->wanted))
		link = &(*link)->next;
	*probe = *from;
	probe->next = *link;
	*link = probe;
	list_add(list, probe);
	return probe;
}

static void probe_new(struct process *p, struct breakpoint *b, const struct probe *from)
{
	const struct probe_spec *wanted = from->wanted;
	struct probe *probe = probe_add(p, b, from);

	probe->start = arch_text_address(p->arch, from->start);
	probe->entry = b->address;
	probe->params = wanted->hook || from->is_resolver ? NULL : probe_params_new(p, wanted);
	probe->function = probe_is_hook(probe) ? &probe_watched : wanted->function;
	probe->traced = (struct traced){
		.function = wanted->function, .resource = wanted->resource, .shown = from->traced.shown};
	p->probes->releases += releases_at_entry(probe);
}

/* Replaces the probe's row and its shown name by those of `other`. The new row may give the calls another meaning. */
static void probe_rename(struct process *p, struct probe *probe, const struct probe *other)
{
	p->probes->releases -= releases_at_entry(probe);
	probe->wanted = other->wanted;
	probe->function = probe_is_hook(probe) ? &probe_watched : other->wanted->function;
	probe->traced.function = other->wanted->function;
	probe->traced.shown = other->traced.shown;
	p->probes->releases += releases_at_entry(probe);
}

/* Handles another function at the same address whose calls have another meaning: the linker has merged functions with
 * the same code, or two IFUNCs have chosen the same function. The modules' order decides which meaning applies, but
 * only until the breakpoint is inserted, because the meaning must not change while a call is in flight. */
static void probe_merge_other_kind(struct process *p, struct probe *known, const struct breakpoint *b,
				   const struct probe *other)
{
	if (other->wanted > known->wanted || !b->prepared)
		return;
	for (const struct alias *alias = known->aliases; alias; alias = alias->next)
		ledger_forget_function(p->trace, &alias->traced);
	aliases_free(known);
	known->traced.any_family = false;
	probe_rename(p, known, other);
}

/* Handles another name of the same function. If the name that a caller used cannot be found, the modules' order decides
 * which name is shown. */
static void probe_merge(struct process *p, struct probe *known, const struct breakpoint *b, const struct probe *other)
{
	const struct function *f = known->wanted->function, *g = other->wanted->function;

	if (other->wanted == known->wanted && f && f->is_pattern) {
		if (b->prepared && pattern_name_is_better(other->traced.shown, known->traced.shown))
			probe_rename(p, known, other);
		return;
	}
	if (f && g && !alias_same_calls(known->wanted, other->wanted)) {
		probe_merge_other_kind(p, known, b, other);
	} else {
		/* A function that matches a pattern has only one name, that of the first row. */
		if (f && g && !f->is_pattern && !g->is_pattern)
			alias_add(p, known, other);
		known->traced.any_family |= f && g && f->family && g->family && strcmp(f->family, g->family);
		if (other->wanted < known->wanted)
			probe_rename(p, known, other);
	}
	alias_update_asks(p, known);
}

void probe_copy(struct process *p, struct breakpoint *b, const struct breakpoint *from)
{
	for (const struct probe *probe = from->probe; probe; probe = probe->next) {
		struct probe *copy = probe_add(p, b, probe);

		copy->object = objects_find(&p->objects, b->address);
		copy->aliases = aliases_copy(probe->aliases);
		copy->params = probe_params_ref(probe->params);
		p->probes->releases += releases_at_entry(copy);
	}
}

void probe_forget(struct process *p, struct breakpoint *b)
{
	while (b->probe) {
		struct probe *probe = b->probe;

		b->probe = probe->next;
		list_remove(p->probes, probe);
		p->probes->releases -= releases_at_entry(probe);
		aliases_free(probe);
		probe_params_unref(probe->params);
		free(probe);
	}
	free(b->calls);
	b->calls = NULL;
}

void probes_free(struct process *p)
{
	callers_free(p->probes);
	free(p->probes->items);
	free(p->probes->outers);
	free(p->probes);
	p->probes = NULL;
}

size_t probes_count(const struct process *p)
{
	size_t count = 0;

	/* A function of several kinds is counted once, by its last probe. */
	for (size_t i = 0; i < p->probes->count; i++) {
		const struct probe *probe = p->probes->items[i];

		count += !probe->wanted->hook && (!probe->next || probe->next->wanted->hook);
	}
	return count;
}

void probe_at(struct process *p, const struct probe *probe)
{
	const uint64_t at = probe_entry(p, probe->start);
	/* If the probe is known, this is another name of the same function, or the process's tracing is resumed. */
	struct probe *known = probe_like(breakpoint_find(p, at), probe->wanted);
	struct breakpoint *b = breakpoint_insert(p, at);

	if (!b) {
		if (!known)
			probe_failed(p, probe);
		return;
	}
	if (known)
		probe_merge(p, known, b, probe);
	else
		probe_new(p, b, probe);
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

struct probes_finding {
	struct process *p;
	struct object *object;
};

static void probe_symbol(const struct probes_finding *finding, const struct elf_symbol *symbol,
			 const struct probe_spec *wanted, const char *shown)
{
	const struct object *object = finding->object;
	const uint64_t address = symbol->value + object->bias;

	if (!object_text_at(object, address))
		return;
	/* Usually a local function named malloc is a helper of its file. But in a static program a linker may make the
	 * real malloc local, and an allocator with a prefix may be linked with hidden symbols. */
	if (!symbol->is_global && wanted->symbol[0] != '*' && !elf_file_is_static(object->file))
		return;
	probe_spec_found(finding->p->tracer->wanted, wanted);
	if (probe_spec_is_watched_inside(wanted, object->file))
		return;
	if (wanted->function && !chosen_libraries_choose(finding->p->tracer->wanted, object))
		return;
	probe_at(finding->p, &(struct probe){.wanted = wanted,
					     .traced = {.shown = shown},
					     .start = address,
					     .size = symbol->size,
					     .object = object,
					     .is_resolver = symbol->is_ifunc});
}

/* Probes a symbol that has one of the module's prefixes, unless the module names the whole symbol. */
static void probe_prefixed(const struct probes_finding *finding, const struct elf_symbol *symbol,
			   const struct module *module, const struct probe_spec *exact)
{
	const struct tracer *t = finding->p->tracer;
	const struct probe_spec *w = NULL;

	for (; exact; exact = probe_spec_from(exact->next, symbol->name))
		if (exact->module == module)
			return;
	while ((w = probe_spec_prefixed(t->wanted, symbol->name, module, w)))
		probe_symbol(finding, symbol, w, symbol->name);
}

static void probes_on_symbol(void *context, const struct elf_symbol *symbol)
{
	const struct probes_finding *finding = context;
	const struct tracer *t = finding->p->tracer;
	const struct probe_spec *exact = probe_spec_exact(t->wanted, symbol->name);

	for (const struct probe_spec *w = exact; w; w = probe_spec_from(w->next, symbol->name))
		probe_symbol(finding, symbol, w, w->shown);
	for (size_t m = 0; m < t->set->traced.module_count; m++)
		probe_prefixed(finding, symbol, t->set->traced.modules[m], exact);
}

void probe_linker(struct process *p)
{
	const struct probe_spec *wanted = probe_spec_hook(p->tracer->wanted, HOOK_LIBRARY);
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
	struct probes_finding finding = {p, object};

	object->probed = true;
	chosen_libraries_saw(p->tracer->wanted, object);
	elf_file_wanted_functions(object->file, probe_spec_is_name, p->tracer->wanted, probes_on_symbol, &finding);
	callers_add(p, object);
}

/* ---- Writing breakpoints ---- */

static void plant_failed(struct process *p, const struct breakpoint *b)
{
	for (const struct probe *probe = b->probe; probe; probe = probe->next)
		probe_failed(p, probe);
}

void probes_plant(struct process *p)
{
	breakpoints_plant(p, plant_failed);
}
