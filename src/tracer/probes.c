#include "config.h"
#include "tracer/model.h"
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

static void wanted_add(struct tracer *t, size_t *capacity, const struct wanted *wanted)
{
	ARRAY_GROW(t->wanted, *capacity, t->wanted_count);
	t->wanted[t->wanted_count++] = *wanted;
}

void wanted_init(struct tracer *t)
{
	size_t capacity = 0;
	uint32_t resource = 1;

	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++)
		wanted_add(t, &capacity, &hooks[i]);
	for (size_t m = 0; m < t->set->module_count; m++) {
		const struct module *module = t->set->modules[m];

		for (size_t f = 0; f < module->function_count; f++) {
			const struct function *function = &module->functions[f];
			char *shown = names_demangle(function->symbol);

			if (function->name || !shown) {
				free(shown);
				shown = xstrdup(function->name ? function->name : function->symbol);
			}
			wanted_add(t, &capacity,
				   &(struct wanted){.function = function,
						    .module = module,
						    .resource = resource + function->resource,
						    .symbol = function->symbol,
						    .shown = shown});
		}
		resource += (uint32_t)module->resource_count;
	}
	for (size_t i = 0; i < t->wanted_count; i++)
		hash_set(&t->wanted_names, hash_bytes(t->wanted[i].symbol, strlen(t->wanted[i].symbol)), i);
}

static struct wanted *wanted_exact(struct tracer *t, const char *name)
{
	const uint64_t *index = hash_get(&t->wanted_names, hash_bytes(name, strlen(name)));

	return index && !strcmp(t->wanted[*index].symbol, name) ? &t->wanted[*index] : NULL;
}

/* je_malloc for "*malloc" where "je_" is one of the module's prefixes. */
static struct wanted *wanted_prefixed(struct tracer *t, const char *name)
{
	char pattern[64] = "*";

	for (size_t m = 0; m < t->set->module_count; m++) {
		const char *const *prefix = t->set->modules[m]->prefixes;

		for (; prefix && *prefix; prefix++) {
			const size_t length = strlen(*prefix);

			if (strncmp(name, *prefix, length) || strlen(name + length) > 60)
				continue;
			strcpy(pattern + 1, name + length);
			struct wanted *wanted = wanted_exact(t, pattern);

			if (wanted)
				return wanted;
		}
	}
	return NULL;
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

const struct text_range *object_text_at(const struct object *object, uint64_t address)
{
	for (size_t i = 0; i < object->text_count; i++)
		if (address >= object->text[i].start && address < object->text[i].end)
			return &object->text[i];
	return NULL;
}

static void probe_failed(struct process *p, const struct probe *probe)
{
	const struct text_range *text = object_text_at(probe->object, probe->start);
	unsigned char byte;

	/* What cannot be read has gone, or goes: the process ends. */
	if (probe->wanted->hook || memory_read(p, probe->start, &byte, 1) < 0)
		return;
	p->counts.failed_probes++;
	output_note(p, "not traced: %s in %s: no breakpoint can be set there", probe->shown, probe->object->path);
	msg_warn("%s in %s is not traced: no breakpoint can be set there%s", probe->shown, probe->object->path,
		 text && text->shared ? " (its text is shared with other processes)"
				      : " (another program's may be there: perf, bpftrace and other users of uprobes "
					"put theirs into every process)");
}

const struct probe *probe_around(const struct process *p, uint64_t address)
{
	for (size_t i = 0; i < p->probe_count; i++)
		if (address > p->probes[i]->start && address <= p->probes[i]->start + p->probes[i]->size)
			return p->probes[i];
	return NULL;
}

uint64_t probe_entry(struct process *p, uint64_t start)
{
	const struct breakpoint *known = breakpoint_find(p, start);
	unsigned char code[ARCH_INSN_MAX];

	if (memory_read(p, start, code, sizeof(code)) < 0)
		return start;
	if (known && known->inserted)
		memcpy(code, known->original, known->size);
	return p->arch->entry(start, code, sizeof(code));
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
	if (!is_new) {
		const char *family = probe->wanted->function ? probe->wanted->function->family : NULL;
		const char *known = b->probe->wanted->function ? b->probe->wanted->function->family : NULL;

		b->probe->any_family |= family && known && strcmp(family, known);
		/* The module's order decides which of several names is shown. */
		if (probe->wanted < b->probe->wanted) {
			b->probe->wanted = probe->wanted;
			b->probe->shown = probe->shown;
		}
	} else {
		b->probe = xmalloc(sizeof(*b->probe));
		*b->probe = *probe;
		ARRAY_GROW(p->probes, p->probe_capacity, p->probe_count);
		p->probes[p->probe_count++] = b->probe;
		p->release_probes += probe->wanted->function && probe->wanted->function->role == ROLE_RELEASE;
		((struct wanted *)probe->wanted)->found++;
	}
	msg_debug(DBG_SYMBOLS, 1, "%s at 0x%llx in %s", probe->shown ? probe->shown : "hook", (unsigned long long)at,
		  probe->object->path);
}

struct finding {
	struct process *p;
	struct object *object;
};

static bool on_symbol(void *context, const struct elf_symbol *symbol)
{
	const struct finding *finding = context;
	struct tracer *t = finding->p->tracer;
	struct wanted *wanted = wanted_exact(t, symbol->name);
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
					     .shown = shown,
					     .start = address,
					     .size = symbol->size,
					     .object = finding->object,
					     .is_resolver = symbol->is_ifunc});
	return true;
}

/* ---- IFUNCs whose resolvers ran before the attach ---- */

static const struct probe *resolver_named(const struct process *p, const char *name, uint64_t resolver)
{
	for (size_t i = 0; i < p->probe_count; i++) {
		const struct probe *probe = p->probes[i];

		if (probe->is_resolver && (*name ? !strcmp(name, probe->wanted->symbol) || !strcmp(name, probe->shown)
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

	if (object && object == probe->object && address != probe->start && object_text_at(object, address))
		probe_at(p,
			 &(struct probe){
				 .wanted = probe->wanted, .shown = probe->shown, .start = address, .object = object});
	return true;
}

void probe_resolved(struct process *p)
{
	bool any = false;

	for (size_t i = 0; i < p->probe_count && !any; i++)
		any = p->probes[i]->is_resolver;
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
}

void forget_range(struct process *p, uint64_t start, uint64_t end)
{
	uint64_t *gone = NULL;
	size_t count = 0, capacity = 0;
	const struct hash_entry *entry;

	lend_no_more(p);
	for (size_t i = 0; (entry = hash_next(&p->breakpoints, &i));)
		if (entry->key >= start && entry->key < end) {
			ARRAY_GROW(gone, capacity, count);
			gone[count++] = entry->key;
		}
	for (size_t i = 0; i < count; i++) {
		struct breakpoint *b = hash_get_ptr(&p->breakpoints, gone[i]);

		/* What is there may have another name only: a program whose file was replaced. */
		breakpoint_remove(p, b);
		hash_remove(&p->breakpoints, gone[i], NULL);
		calls_drop_site(p, b);
		breakpoint_free(p, b);
	}
	free(gone);
	p->forgotten++;
	slots_forget_range(p, start, end);
}

/* ---- --symbol ---- */

static bool has_code_at(const struct object *object, uint64_t address)
{
	for (size_t i = 0; i < object->text_count; i++)
		if (address >= object->text[i].start && address < object->text[i].end)
			return true;
	return false;
}

static void probe_manual_symbol(struct process *p, const struct manual_symbol *symbol)
{
	struct tracer *t = p->tracer;
	const uint64_t address = symbol->address + p->program->bias;
	bool known = false;

	for (size_t w = 0; w < t->wanted_count; w++) {
		const struct wanted *wanted = &t->wanted[w];

		if (!wanted->function || strcmp(wanted->symbol, symbol->name))
			continue;
		known = true;
		if (has_code_at(p->program, address))
			probe_at(p, &(struct probe){.wanted = wanted,
						    .shown = wanted->shown,
						    .start = address,
						    .object = p->program});
	}
	/* Of the first program it is meant; others may have theirs anywhere. */
	if (t->symbols_checked)
		return;
	if (!known)
		msg_warn("--symbol=%s=0x%llx: no function of this name is to be traced", symbol->name,
			 (unsigned long long)symbol->address);
	else if (!has_code_at(p->program, address))
		msg_warn("--symbol=%s=0x%llx: %s has no code there; give the function's address in the file, as nm or "
			 "objdump print it",
			 symbol->name, (unsigned long long)symbol->address, p->exe);
}

void probe_manual_symbols(struct process *p)
{
	const struct settings *set = p->tracer->set;

	for (size_t i = 0; p->program && i < set->symbol_count; i++)
		probe_manual_symbol(p, &set->symbols[i]);
	p->tracer->symbols_checked |= p->program != NULL;
}
