/* Locations of parameters and results on i386: System V Application Binary Interface, Intel386 Architecture
 * Processor Supplement, section 2.2.3 "Parameter Passing" of version 1.1, which is for Linux. */
#include "config.h"
#include "arch/abi_rules.h"
#include "arch/x86/x86_registers.h"

#include <elf.h>

#define WORD           4u
#define RETURN_ADDRESS 4u /* size of the return address in bytes; the first argument is above it: figure 2.2 */

#ifndef NT_PRXFPREG
#define NT_PRXFPREG 0x46e62b7f
#endif
#define REQUEST_GET_THREAD_AREA 25 /* PTRACE_GET_THREAD_AREA, which no header defines in a 64-bit build */

/* Returns true if the value's location is certain. A vector is in a register or on the stack, depending on the
 * processor for which the program was compiled. Values of 16 bytes on the stack are aligned to 16 only if vectors are
 * in registers. */
static bool abi_i386_is_clear(const struct abi_value *value)
{
	uint64_t end = 0;

	if (value->by_address || !value->size)
		return true;
	if (!value->field_count) /* in C++, some compilers pass empty structs, others do not */
		return false;
	if (!abi_is_sane(value))
		return false;
	/* If `fields` is incomplete, a missing field may be a vector or a __float128. With such a field, the value's
	 * alignment is more than a word. */
	if (value->field_count > ABI_FIELDS)
		return value->align && value->align <= WORD;
	for (unsigned i = 0; i < value->field_count; i++) {
		const struct abi_field *field = &value->fields[i];

		if (field->kind == ABI_VECTOR || (field->kind == ABI_FLOAT && field->size > 8))
			return false;
		end = field->offset + field->size > end ? field->offset + field->size : end;
	}
	/* Compilers also disagree on padding at the end of a value. */
	return abi_round(end, WORD) >= value->size;
}

/* Returns true if a result is in memory. Table 2.4 "Returning Values": on Linux, structs and unions of any size are in
 * memory. Complex numbers of float are in eax and edx, larger complex numbers in memory. */
static bool abi_i386_returns_in_memory(const struct abi_value *value)
{
	return value->by_address || value->is_struct || (value->field_count > 1 && value->size > 2 * WORD);
}

/* Sets the locations of arguments. All are on the stack, aligned to words (the psABI's section "Parameter Passing"). */
static void i386_arguments(const struct abi_function *function, struct abi_place *places)
{
	const struct abi_value *result = function->result;
	uint64_t at = RETURN_ADDRESS;
	/* Compilers disagree whether the address of an empty result is passed. */
	bool is_known = !result || (abi_i386_is_clear(result) && (result->by_address || !abi_is_empty(result)));

	if (result && abi_i386_returns_in_memory(result))
		at += WORD; /* "Functions Returning Structures or Unions": the result's address is the first argument */
	for (size_t i = 0; i < function->count; i++) {
		const struct abi_value *value = &function->values[i];

		places[i] = (struct abi_place){.is_address = value->by_address};
		is_known = is_known && abi_i386_is_clear(value) && at < ABI_SIZE_MAX;
		if (!is_known)
			continue;
		places[i].is_known = true;
		if (!value->by_address && !value->size)
			continue;
		const uint64_t size = value->by_address ? WORD : value->size;

		abi_on_stack(&places[i], size, at);
		at += abi_round(size, WORD);
	}
}

static void i386_place_result(const struct abi_function *function, struct abi_place *place)
{
	const struct abi_value *value = function->result;
	const struct abi_field *first = value->fields;

	*place = (struct abi_place){0};
	if (!value->by_address && abi_is_empty(value))
		place->is_known = true;
	else if (!abi_i386_is_clear(value))
		return;
	else if (abi_i386_returns_in_memory(value)) {
		place->is_address = true;
		abi_on_stack(place, WORD, RETURN_ADDRESS);
	} else if (value->field_count == 1 && (first->kind == ABI_X87 || first->kind == ABI_FLOAT)) {
		if (first->size >= 4) /* a smaller one, _Float16, may be in xmm0 instead */
			abi_add(place, PIECE_X87, 0, 0, value->size, X86_ST_AT);
	} else if (value->size <= 2 * WORD) {
		abi_in_registers(place, value->size, WORD, 0);
	}
}

/* Returns 0, because no argument is in a register. */
static uint64_t i386_argument_register(const struct arch_regs *regs, unsigned index)
{
	(void)regs, (void)index;
	return 0;
}

static uint64_t i386_result_register(const struct arch_regs *regs, unsigned index)
{
	return regs->narrow[index ? I386_EDX : I386_EAX];
}

/* Gets the number of the segment descriptor that contains the thread pointer. gs selects this descriptor in the global
 * descriptor table, in which the kernel has entries for each thread. */
static bool i386_thread_area(const struct arch_regs *regs, uint64_t *number)
{
	const uint32_t selector = regs->narrow[I386_GS] & 0xffff;
	const bool is_local = selector & 4;

	*number = selector >> 3;
	return *number && !is_local;
}

static bool i386_thread_field(const unsigned char *code, size_t size, uint64_t state, int64_t *offset)
{
	static const unsigned char load[] = {0x65, 0xa1, 0, 0, 0, 0}; /* mov %gs:0, %eax */

	(void)state;
	return x86_thread_field(code, size, load, sizeof(load), false, offset);
}

static unsigned i386_argument_dwarf(unsigned index)
{
	(void)index;
	return UINT32_MAX;
}

/* Returns the offset of xmm0 to xmm7, whose DWARF numbers are 21 to 28 (table 2.14 of the i386 ABI); -1 for other
 * registers. */
static int i386_float_at(unsigned dwarf_register)
{
	return dwarf_register >= 21 && dwarf_register <= 28 ? X86_XMM_AT + 16 * ((int)dwarf_register - 21) : -1;
}

const struct arch_abi abi_i386 = {
	.floats_set = NT_PRXFPREG,
	.vectors_set = NT_X86_XSTATE,
	.arguments = i386_arguments,
	.result = i386_place_result,
	.argument_register = i386_argument_register,
	.result_register = i386_result_register,
	.has_local_convention = true,
	.align_most = 4,
	.x87_align = 4,
	.argument_dwarf = i386_argument_dwarf,
	.float_at = i386_float_at,
	.thread_request = REQUEST_GET_THREAD_AREA,
	.thread_area = i386_thread_area,
	.thread_request_at = 4, /* base_addr of struct user_desc */
	.reloc_tpoff = R_386_TLS_TPOFF,
	.thread_field = i386_thread_field,
};
