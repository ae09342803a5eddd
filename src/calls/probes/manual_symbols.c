#include "config.h"
#include "calls/probes/manual_symbols.h"
#include "calls/probes/function_patterns.h"
#include "calls/probes/function_start.h"
#include "calls/probes/probes.h"
#include "base/msg.h"

#include <string.h>

/* Returns true if a table row has this name. Then, if is_planted, adds a probe at the address for each such row. */
static bool probe_named(struct process *p, const char *name, uint64_t address, bool is_planted)
{
	const struct probe_spec_list *list = p->tracer->wanted;
	bool known = false;

	for (size_t w = 0; w < list->count; w++) {
		const struct probe_spec *wanted = &list->items[w];

		if (!wanted->function || strcmp(wanted->symbol, name))
			continue;
		known = true;
		if (!is_planted)
			continue;
		probe_spec_found(p->tracer->wanted, wanted);
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
	const bool is_meant = is_first || manual_symbols_mean(p);
	uint64_t start = 0;
	const struct elf_symbol *known_symbol;
	const enum place place = place_of(p, p->program, address, &start, &known_symbol);
	const bool known = probe_named(p, symbol->name, address, place_is_probed(place, is_meant));

	if (!is_first)
		return;
	if (!known)
		msg_warn("--symbol-address=%s=0x%llx: no function of this name is to be traced", symbol->name, typed);
	else if (place == PLACE_NO_CODE)
		msg_warn("--symbol-address=%s=0x%llx: %s has no code there; give the function's address in the file, "
			 "as nm or objdump print it",
			 symbol->name, typed, p->trace->origin.exe);
	else if (place == PLACE_INSIDE)
		msg_warn("--symbol-address=%s=0x%llx is not traced: in %s no function begins there, the address is "
			 "inside the function at 0x%llx; give the function's address in the file, as nm or "
			 "objdump print it",
			 symbol->name, typed, p->trace->origin.exe, (unsigned long long)(start - p->program->bias));
}

bool manual_symbols_mean(const struct process *p)
{
	const char *const program = p->tracer->wanted->symbols_of;

	return program && !strcmp(program, p->trace->origin.exe);
}

void probe_manual_symbols(struct process *p)
{
	const struct settings *set = p->tracer->set;
	const bool is_first = !p->tracer->wanted->symbols_of;

	if (!p->program || (!set->traced.symbol_count && !p->tracer->wanted->patterns))
		return;
	for (size_t i = 0; i < set->traced.symbol_count; i++)
		probe_manual_symbol(p, &set->traced.symbols[i], is_first);
	if (is_first)
		p->tracer->wanted->symbols_of = xstrdup(p->trace->origin.exe);
}
