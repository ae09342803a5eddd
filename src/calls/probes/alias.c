#include "config.h"
#include "calls/probes/alias.h"
#include "breakpoints/breakpoints.h"

#include <stdlib.h>
#include <string.h>

/* Finds out by which of a function's names a call was made.
 *
 * memalign and aligned_alloc are one function in glibc; free, cfree and `operator delete` are one in tcmalloc. The
 * function's address does not show the name, but the call does: it goes through a GOT slot that the dynamic linker has
 * filled with the address of one symbol, and the object's relocation for that slot names the symbol.
 *
 * functrace collects the slots of traced names from each object when it probes the object. A caller's code is read only
 * for functions that have a slot for a name other than the first, and once for each return address. If no slot is found
 * (a call within the object, through a register, of dlsym()'s result, in a static program), the first name is used. */

/* The symbol of a traced function. */
struct name {
	char *symbol;
	bool is_called; /* some object has a GOT slot for this symbol */
};

struct callers {
	struct name *names;
	size_t count, capacity;
	struct hash slots; /* address of a GOT slot -> number of its name */
	struct hash sites; /* return address -> number of the name + 1; 0: unknown */
};

/* ---- The names of a process ---- */

static struct callers *callers_of(struct process *p)
{
	if (!p->probes->callers)
		p->probes->callers = xcalloc(1, sizeof(*p->probes->callers));
	return p->probes->callers;
}

/* Returns the number of a name, and adds the name if it is new. */
static unsigned name_number(struct callers *callers, const char *symbol)
{
	for (size_t i = 0; i < callers->count; i++)
		if (!strcmp(callers->names[i].symbol, symbol))
			return (unsigned)i;
	ARRAY_GROW(callers->names, callers->capacity, callers->count);
	callers->names[callers->count] = (struct name){.symbol = xstrdup(symbol)};
	return (unsigned)callers->count++;
}

/* ---- The names of a function ---- */

static struct alias *alias_new(struct callers *callers, const struct probe_spec *wanted, const char *shown)
{
	struct alias *alias = xmalloc(sizeof(*alias));

	*alias = (struct alias){
		.wanted = wanted,
		.traced = {.function = wanted->function, .resource = wanted->resource, .shown = shown},
		/* For a row with a prefix ("*malloc"), the shown name is the symbol ("je_malloc"). */
		.name = name_number(callers, wanted->symbol[0] == '*' ? shown : wanted->symbol),
	};
	return alias;
}

static bool same_value(const struct value *a, const struct value *b)
{
	return a->kind == b->kind && a->type == b->type && a->a == b->a && a->b == b->b && a->number == b->number;
}

static bool same_condition(const struct condition *a, const struct condition *b)
{
	return a->test == b->test && a->resource == b->resource && a->or_next == b->or_next &&
	       same_value(&a->value, &b->value) && same_value(&a->other, &b->other);
}

static bool same_conditions(const struct function *f, const struct function *g)
{
	for (size_t i = 0; i < FUNCTION_CONDITIONS; i++)
		if (!same_condition(&f->conditions[i], &g->conditions[i]))
			return false;
	return same_condition(&f->replaces, &g->replaces) && same_condition(&f->stays, &g->stays);
}

bool alias_same_calls(const struct probe_spec *a, const struct probe_spec *b)
{
	const struct function *f = a->function, *g = b->function;

	return f && g && a->resource == b->resource && f->role == g->role && f->can_fail == g->can_fail &&
	       f->publishes_early == g->publishes_early && f->result == g->result &&
	       f->may_release_none == g->may_release_none && f->fails_unknown == g->fails_unknown &&
	       f->releases_anyway == g->releases_anyway && f->id_count == g->id_count && f->look == g->look &&
	       f->unless_live == g->unless_live && same_value(&f->id, &g->id) &&
	       same_value(&f->released, &g->released) && same_value(&f->last, &g->last) &&
	       same_value(&f->extent, &g->extent) && same_value(&f->keeps, &g->keeps) && same_conditions(f, g);
}

/* Sets asks_caller if an object calls the function by a name that changes the event: a name that is shown differently
 * from the probe's first name, or any name if the names belong to different families of functions (malloc, new). */
void alias_update_asks(const struct process *p, struct probe *probe)
{
	const struct callers *callers = p->probes->callers;

	probe->asks_caller = false;
	for (const struct alias *alias = probe->aliases; alias; alias = alias->next)
		probe->asks_caller |= callers->names[alias->name].is_called &&
				      (probe->traced.any_family || alias->traced.shown != probe->traced.shown);
}

void alias_add(struct process *p, struct probe *probe, const struct probe *other)
{
	struct callers *callers = callers_of(p);
	struct alias **end = &probe->aliases;

	if (!p->arch->code.call_slot)
		return;
	if (!*end)
		*end = alias_new(callers, probe->wanted, probe->traced.shown);
	struct alias *alias = alias_new(callers, other->wanted, other->traced.shown);

	for (; *end; end = &(*end)->next)
		if ((*end)->name == alias->name) {
			free(alias);
			return;
		}
	*end = alias;
}

struct alias *aliases_copy(const struct alias *aliases)
{
	struct alias *copy = NULL, **end = &copy;

	for (; aliases; aliases = aliases->next) {
		*end = xmalloc(sizeof(**end));
		**end = *aliases;
		(*end)->next = NULL;
		end = &(*end)->next;
	}
	return copy;
}

void aliases_free(struct probe *probe)
{
	while (probe->aliases) {
		struct alias *next = probe->aliases->next;

		free(probe->aliases);
		probe->aliases = next;
	}
}

static const struct traced *alias_numbered(const struct probe *probe, unsigned name)
{
	for (const struct alias *alias = probe->aliases; alias; alias = alias->next)
		if (alias->name == name)
			return &alias->traced;
	return &probe->traced;
}

const struct traced *alias_in(const struct probe *from, const struct traced *traced, const struct probe *to)
{
	for (const struct alias *alias = from->aliases; alias; alias = alias->next)
		if (&alias->traced == traced)
			return alias_numbered(to, alias->name);
	return &to->traced;
}

/* ---- Slots ---- */

static bool alias_on_slot(void *context, const char *symbol, uint64_t resolver, uint64_t slot)
{
	struct process *p = context;

	(void)resolver;
	if (!probe_spec_any(p->tracer->wanted, symbol))
		return true;
	struct callers *callers = callers_of(p);
	const unsigned number = name_number(callers, symbol);

	callers->names[number].is_called = true;
	hash_set(&callers->slots, slot, number);
	return true;
}

void callers_add(struct process *p, const struct object *object)
{
	if (!p->arch->code.call_slot)
		return;
	object_call_slots(object, p->arch->relocs.jump_slot, p->arch->relocs.glob_dat, alias_on_slot, p);
	for (size_t i = 0; i < p->probes->count; i++)
		alias_update_asks(p, p->probes->items[i]);
}

static void forget_keys(struct hash *h, uint64_t start, uint64_t end)
{
	size_t count;
	uint64_t *const gone = hash_keys_between(h, start, end, &count);

	for (size_t i = 0; i < count; i++)
		hash_remove(h, gone[i], NULL);
	free(gone);
}

void callers_forget_range(struct probe_list *probes, uint64_t start, uint64_t end)
{
	if (!probes->callers)
		return;
	forget_keys(&probes->callers->slots, start, end);
	forget_keys(&probes->callers->sites, start, end);
}

struct callers *callers_copy(const struct callers *callers)
{
	if (!callers)
		return NULL;
	struct callers *copy = xcalloc(1, sizeof(*copy));

	for (; copy->count < callers->count; copy->count++) {
		ARRAY_GROW(copy->names, copy->capacity, copy->count);
		copy->names[copy->count] = callers->names[copy->count];
		copy->names[copy->count].symbol = xstrdup(copy->names[copy->count].symbol);
	}
	hash_copy(&callers->slots, &copy->slots);
	hash_copy(&callers->sites, &copy->sites);
	return copy;
}

void callers_free(struct probe_list *probes)
{
	struct callers *callers = probes->callers;

	for (size_t i = 0; callers && i < callers->count; i++)
		free(callers->names[i].symbol);
	if (callers) {
		free(callers->names);
		hash_free(&callers->slots);
		hash_free(&callers->sites);
	}
	free(callers);
	probes->callers = NULL;
}

/* ---- Calls ---- */

/* Returns the value for callers->sites: the number of the name that the call before this return address uses, plus 1; 0
 * if unknown. */
static unsigned alias_look_at_call(struct process *p, const struct object *object, uint64_t return_address)
{
	const struct arch_memory code = {.read = breakpoints_read, .context = p};
	const uint64_t got = elf_file_got(object->file);
	const uint64_t *number = NULL;
	uint64_t slot;

	if (p->arch->code.call_slot(return_address, got ? got + object->bias : 0, &code, &slot))
		number = hash_get(&p->probes->callers->slots, slot);
	return number ? (unsigned)*number + 1 : 0;
}

const struct traced *alias_called(struct process *p, const struct probe *probe, uint64_t return_address)
{
	struct callers *callers = p->probes->callers;
	const uint64_t *known = hash_get(&callers->sites, return_address);
	uint64_t name = known ? *known : 0;
	const struct object *object = known ? NULL : objects_find(&p->objects, return_address);

	/* Code outside of objects may be replaced at any time, and has no GOT slots. */
	if (object) {
		name = alias_look_at_call(p, object, return_address);
		hash_set(&callers->sites, return_address, name);
	}
	return name ? alias_numbered(probe, (unsigned)name - 1) : &probe->traced;
}
