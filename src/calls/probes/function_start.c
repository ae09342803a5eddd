#include "config.h"
#include "calls/probes/function_start.h"
#include "ptrace/target_memory.h"

/* A breakpoint inside an instruction would change that instruction, and the program would continue with wrong results.
 * So functrace refuses an address that is inside a function according to the file's symbols or call frame
 * information. */

struct code_kind_search {
	const struct arch *arch;
	uint64_t address, bias;
	enum place place;
	uint64_t start; /* start of the function that contains the address */
	const struct elf_symbol *symbol;
};

static bool on_function(void *context, const struct elf_symbol *symbol)
{
	struct code_kind_search *search = context;
	const uint64_t start = arch_text_address(search->arch, symbol->value + search->bias);

	if (start == search->address) {
		search->place = PLACE_START;
		search->symbol = symbol;
		return false;
	}
	if (search->address > start && search->address - start < symbol->size) {
		search->place = PLACE_INSIDE;
		search->start = start;
	}
	return true;
}

enum place place_of(struct process *p, const struct object *object, uint64_t address, uint64_t *start,
		    const struct elf_symbol **symbol)
{
	const struct stack_snapshot memory = {.arch = p->arch, .read = memory_read_for_unwind, .context = p};
	struct code_kind_search search = {.arch = p->arch,
					  .address = arch_text_address(p->arch, address),
					  .bias = object->bias,
					  .place = PLACE_UNKNOWN};

	*symbol = NULL;
	if (!object_text_at(object, address))
		return PLACE_NO_CODE;
	elf_file_functions(object->file, on_function, &search);
	if (search.place == PLACE_UNKNOWN && unwinder_function(p->unwinder, &memory, search.address, &search.start))
		search.place = search.start == search.address ? PLACE_START : PLACE_INSIDE;
	*start = search.start;
	*symbol = search.symbol;
	return search.place;
}
