#include "config.h"
#include "calls/manual_symbols.h"
#include "calls/calls.h"
#include "calls/probes.h"
#include "ptrace/memory.h"
#include "base/msg.h"

#include <string.h>

/* A breakpoint within an instruction would make another one of it, and the program go on with wrong results. So a place
 * that the file's symbols or call frame information have inside a function is refused. */

enum place {
	PLACE_NO_CODE,
	PLACE_INSIDE, /* of a function */
	PLACE_START,  /* of one */
	PLACE_UNKNOWN,
};

struct search {
	const struct arch *arch;
	uint64_t address, bias;
	enum place place;
	uint64_t start; /* of the function, where it is inside of one */
};

static bool on_function(void *context, const struct elf_symbol *symbol)
{
	struct search *search = context;
	const uint64_t start = arch_text_address(search->arch, symbol->value + search->bias);

	if (start == search->address) {
		search->place = PLACE_START;
		return false;
	}
	if (search->address > start && search->address - start < symbol->size) {
		search->place = PLACE_INSIDE;
		search->start = start;
	}
	return true;
}

static ssize_t read_code(void *context, uint64_t address, void *data, size_t size)
{
	return memory_read_some(context, address, data, size);
}

/* What the program's file says of a mapped address; *start: of the function that it is inside of. */
static enum place place_of(struct process *p, uint64_t address, uint64_t *start)
{
	const struct stack_snapshot memory = {.arch = p->arch, .read = read_code, .context = p};
	struct search search = {.arch = p->arch,
				.address = arch_text_address(p->arch, address),
				.bias = p->program->bias,
				.place = PLACE_UNKNOWN};

	if (!object_text_at(p->program, address))
		return PLACE_NO_CODE;
	elf_file_functions(p->program->file, on_function, &search);
	if (search.place == PLACE_UNKNOWN &&
	    unwinder_function(p->calls->unwinder, &memory, search.address, &search.start))
		search.place = search.start == search.address ? PLACE_START : PLACE_INSIDE;
	*start = search.start;
	return search.place;
}

/* False: there is none of that name. */
static bool probe_named(struct process *p, const char *name, uint64_t address, bool is_planted)
{
	const struct wanted_list *list = p->tracer->wanted;
	bool known = false;

	for (size_t w = 0; w < list->count; w++) {
		const struct wanted *wanted = &list->items[w];

		if (!wanted->function || strcmp(wanted->symbol, name))
			continue;
		known = true;
		if (is_planted)
			probe_at(p, &(struct probe){.wanted = wanted,
						    .traced = {.shown = wanted->shown},
						    .start = address,
						    .object = p->program});
	}
	return known;
}

static void probe_manual_symbol(struct process *p, const struct manual_symbol *symbol, bool is_first)
{
	const unsigned long long typed = symbol->address;
	const uint64_t address = symbol->address + p->program->bias;
	const bool is_meant = is_first || !strcmp(p->tracer->wanted->symbols_of, p->trace->exe);
	uint64_t start = 0;
	const enum place place = place_of(p, address, &start);
	/* Of other programs, those that the first one executes, it is meant only where it can be true. */
	const bool is_planted = place == PLACE_START || (place == PLACE_UNKNOWN && is_meant);
	const bool known = probe_named(p, symbol->name, address, is_planted);

	if (!is_first)
		return;
	if (!known)
		msg_warn("--symbol=%s=0x%llx: no function of this name is to be traced", symbol->name, typed);
	else if (place == PLACE_NO_CODE)
		msg_warn("--symbol=%s=0x%llx: %s has no code there; give the function's address in the file, as nm or "
			 "objdump print it",
			 symbol->name, typed, p->trace->exe);
	else if (place == PLACE_INSIDE)
		msg_warn("--symbol=%s=0x%llx is not traced: in %s no function begins there, it is inside the one at "
			 "0x%llx; give the function's address in the file, as nm or objdump print it",
			 symbol->name, typed, p->trace->exe, (unsigned long long)(start - p->program->bias));
}

void probe_manual_symbols(struct process *p)
{
	const struct settings *set = p->tracer->set;
	const bool is_first = !p->tracer->wanted->symbols_of;

	if (!p->program || !set->symbol_count)
		return;
	for (size_t i = 0; i < set->symbol_count; i++)
		probe_manual_symbol(p, &set->symbols[i], is_first);
	if (is_first)
		p->tracer->wanted->symbols_of = xstrdup(p->trace->exe);
}
