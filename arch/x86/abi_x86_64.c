/* Locations of parameters and results on x86-64: System V Application Binary Interface, AMD64 Architecture Processor
 * Supplement, section 3.2.3 "Parameter Passing". */
#include "config.h"
#include "arch/abi_rules.h"
#include "arch/x86/x86_registers.h"

#include <elf.h>

#include "base/util.h"

#define EIGHTBYTE 8u
#define WORDS     2 /* maximum number of eightbytes of a value in registers */

#define INTEGER_REGISTERS 6
#define SSE_REGISTERS     8
#define RETURN_ADDRESS    8 /* bytes of the return address; the first argument on the stack is above it: figure 3.3 */
#define STACK_ALIGN_MAX   16

/* The classes of the psABI's paragraph "Classification". Values of class COMPLEX_X87 have class MEMORY here, because
 * they have more than two eightbytes. */
enum eightbyte { NO_CLASS, INTEGER, SSE, SSEUP, X87, X87UP, MEMORY, UNKNOWN };

/* Merges two classes as the psABI says under "Classification of aggregate types", 4 (c) to (f). */
static enum eightbyte abi_x86_64_merge(enum eightbyte a, enum eightbyte b)
{
	if (a == b || b == NO_CLASS)
		return a;
	if (a == NO_CLASS)
		return b;
	if (a == UNKNOWN || b == UNKNOWN)
		return UNKNOWN;
	if (a == MEMORY || b == MEMORY)
		return MEMORY;
	if (a == INTEGER || b == INTEGER)
		return INTEGER;
	if (a == X87 || a == X87UP || b == X87 || b == X87UP)
		return MEMORY;
	return SSE;
}

/* Merges the classes of a field into those of its eightbytes. Returns false if the field is not aligned; then the whole
 * value is in memory ("Classification of aggregate types", 1). */
static bool classify_field(const struct abi_field *field, enum eightbyte *classes)
{
	const unsigned first = field->offset / EIGHTBYTE, last = (field->offset + field->size - 1u) / EIGHTBYTE;
	enum eightbyte low = UNKNOWN, high = UNKNOWN;

	if (field->kind != ABI_BITS && field->offset % field->size)
		return false;
	switch (field->kind) {
	case ABI_INTEGER:
	case ABI_BITS:
		low = high = INTEGER;
		break;
	case ABI_FLOAT:
		low = SSE;
		high = SSEUP; /* __float128 */
		break;
	case ABI_VECTOR:
		if (field->size == 8 || field->size == 16) {
			low = SSE;
			high = SSEUP;
		}
		break;
	case ABI_X87:
		low = X87;
		high = X87UP;
		break;
	default:
		break;
	}
	classes[first] = abi_x86_64_merge(classes[first], low);
	if (last != first)
		classes[last] = abi_x86_64_merge(classes[last], high);
	return true;
}

/* Returns true if an eightbyte without an INTEGER field has a gap that alignment does not explain. Such a gap may be
 * an unnamed bit field, which debug information omits. Some compilers give it class INTEGER, others no class. */
static bool has_gap(const struct abi_value *value, const enum eightbyte *classes)
{
	const uint64_t align = value->align ? value->align : EIGHTBYTE;
	uint32_t used = 0;

	for (unsigned i = 0; i < value->field_count; i++)
		used |= ((1u << value->fields[i].size) - 1) << value->fields[i].offset;
	for (uint64_t end = 0, next; end < value->size; end = next + 1) {
		for (next = end; next < value->size && !(used >> next & 1);)
			next++;
		for (uint64_t at = end; next > abi_round(end, align) && at < next; at++)
			if (classes[at / EIGHTBYTE] != INTEGER)
				return true;
	}
	return false;
}

/* Returns true if compilers disagree about the value: a __float128 in a struct, or a vector of 16 bytes in a union with
 * other types. Also returns true for a union with a long double, whose class depends on unknown inner unions. */
static bool is_mixed(const struct abi_value *value)
{
	for (unsigned i = 0; i < value->field_count; i++)
		if (value->is_struct && value->fields[i].size > EIGHTBYTE &&
		    (value->fields[i].kind == ABI_FLOAT ||
		     (value->fields[i].kind != ABI_INTEGER && value->fields[i].kind != ABI_BITS &&
		      value->field_count > 1)))
			return true;
	return false;
}

/* Sets the classes of the eightbytes of a value, which is not an empty struct of 0 or 1 bytes. If classes[0] is MEMORY
 * or UNKNOWN, this is the class of the whole value. GCC ignores an array of unknown length; LLVM puts every struct with
 * such an array into memory. */
static void abi_x86_64_classify(const struct abi_value *value, bool is_gcc, enum eightbyte *classes)
{
	const struct abi_field *first = value->fields;

	classes[0] = classes[1] = NO_CLASS;
	if (!abi_is_sane(value) || abi_is_empty(value)) {
		classes[0] = UNKNOWN; /* the value has only unnamed bit fields, or several empty members */
		return;
	}
	if (value->is_open && !is_gcc) {
		classes[0] = MEMORY;
		return;
	}
	/* A value that is a single wide vector is in a vector register or in memory; the compiler's options decide. */
	if (value->size > WORDS * EIGHTBYTE) {
		classes[0] = first->kind == ABI_VECTOR && first->size == value->size ? UNKNOWN : MEMORY;
		return;
	}
	for (unsigned i = 0; i < value->field_count && i < ABI_FIELDS; i++)
		if (!classify_field(&first[i], classes)) {
			classes[0] = MEMORY;
			return;
		}
	if (value->field_count > ABI_FIELDS || classes[0] == UNKNOWN || classes[1] == UNKNOWN || is_mixed(value) ||
	    has_gap(value, classes))
		classes[0] = UNKNOWN;
	else if (classes[1] == MEMORY || (classes[1] == X87UP && classes[0] != X87))
		classes[0] = MEMORY;
	else if (classes[1] == SSEUP && classes[0] != SSE)
		classes[1] = SSE;
}

/* The number of registers, and of bytes on the stack, that earlier arguments have taken. */
struct abi_x86_64_state {
	unsigned integers, sse;
	uint64_t stack;
	/* True if an earlier argument, whose location is unknown, may have taken integer registers, SSE registers, or
	 * bytes on the stack. */
	bool lost_integers, lost_sse, lost_stack;
	bool is_gcc;
};

/* Passes a value on the stack. Arguments there are aligned like their types, but at least to 8 (figure 3.3; 3.1.2
 * for __int128). If the alignment exceeds that of the stack pointer, the location is unknown. */
static void abi_x86_64_to_stack(struct abi_x86_64_state *state, uint64_t size, uint32_t align, struct abi_place *place)
{
	const uint64_t at = abi_round(state->stack, align > EIGHTBYTE ? align : EIGHTBYTE);

	if (align > STACK_ALIGN_MAX || at > ABI_SIZE_MAX)
		state->lost_stack = true;
	if (state->lost_stack)
		return;
	state->stack = at + abi_round(size, EIGHTBYTE);
	abi_on_stack(place, size, at + RETURN_ADDRESS);
}

static uint32_t stack_align(const struct abi_value *value)
{
	uint32_t align = value->align;

	for (unsigned i = 0; !value->is_struct && i < value->field_count; i++)
		align = value->fields[i].size;
	return align;
}

/* Puts a value into the next registers of the kinds that its classes require. */
static void to_registers(const struct abi_value *value, const enum eightbyte *classes, unsigned integers, unsigned sse,
			 struct abi_place *place)
{
	place->is_known = true;
	for (unsigned i = 0; i < WORDS; i++) {
		const uint64_t offset = (uint64_t)i * EIGHTBYTE;
		const uint64_t left = value->size > offset ? value->size - offset : 0;
		const bool is_long = !i && classes[1] == SSEUP;
		const uint64_t most = is_long ? 2 * EIGHTBYTE : EIGHTBYTE, size = left < most ? left : most;

		if (classes[i] == INTEGER)
			abi_add(place, PIECE_INTEGER, integers++, offset, size, 0);
		else if (classes[i] == SSE)
			abi_add(place, PIECE_FLOAT, 0, offset, size, X86_XMM_AT + 16u * sse++);
	}
}

static void pass_address(struct abi_x86_64_state *state, struct abi_place *place)
{
	place->is_address = true;
	if (state->lost_integers)
		return;
	if (state->integers < INTEGER_REGISTERS)
		abi_add(place, PIECE_INTEGER, state->integers++, 0, EIGHTBYTE, 0);
	else
		abi_x86_64_to_stack(state, EIGHTBYTE, EIGHTBYTE, place);
}

/* Marks as unknown how many SSE registers, bytes of the stack and (except for a vector) integer registers are taken
 * after a value of unknown class. */
static void pass_unknown(const struct abi_value *value, struct abi_x86_64_state *state)
{
	const bool is_vector = !value->is_struct && value->field_count && value->fields[0].kind == ABI_VECTOR;

	state->lost_sse = state->lost_stack = true;
	if (!is_vector)
		state->lost_integers = true;
}

/* Returns true if LLVM before 18 may have split an __int128 that does not fit into the registers: one half is in the
 * last register, or all of it is on the stack, aligned to 8. In the psABI all of it is on the stack, aligned to 16. */
static bool is_split(const struct abi_value *value, const struct abi_x86_64_state *state)
{
	return !state->is_gcc && !value->is_struct && value->size > EIGHTBYTE && value->fields[0].kind == ABI_INTEGER &&
	       state->integers + WORDS > INTEGER_REGISTERS;
}

/* Passes an argument as the psABI's paragraph "Passing" says: either all of it is in registers, or none of it. */
static void abi_x86_64_pass(const struct abi_value *value, struct abi_x86_64_state *state, struct abi_place *place)
{
	enum eightbyte classes[WORDS];
	unsigned integers = 0, sse = 0;

	if (value->by_address) {
		pass_address(state, place);
		return;
	}
	if (abi_is_empty(value) && value->size <= 1) {
		place->is_known = true;
		return;
	}
	abi_x86_64_classify(value, state->is_gcc, classes);
	if (classes[0] == UNKNOWN) {
		pass_unknown(value, state);
		return;
	}
	for (unsigned i = 0; i < WORDS; i++) {
		integers += classes[i] == INTEGER;
		sse += classes[i] == SSE;
	}
	if (is_split(value, state)) {
		state->lost_integers = state->lost_stack = true;
		return;
	}
	const bool is_memory = classes[0] == MEMORY || classes[0] == X87;

	if (!is_memory && ((integers && state->lost_integers) || (sse && state->lost_sse))) {
		/* The value may be in registers or on the stack. So from here on it is unknown how many bytes of the
		 * stack, and how many registers of the value's kinds, are taken. */
		state->lost_stack = true;
		state->lost_integers |= integers > 0;
		state->lost_sse |= sse > 0;
	} else if (is_memory || state->integers + integers > INTEGER_REGISTERS || state->sse + sse > SSE_REGISTERS) {
		if (abi_packing_moves(value, stack_align(value), EIGHTBYTE, state->stack))
			state->lost_stack = true;
		abi_x86_64_to_stack(state, value->size, stack_align(value), place);
	} else {
		to_registers(value, classes, state->integers, state->sse, place);
		state->integers += integers;
		state->sse += sse;
	}
}

static bool abi_x86_64_returns_in_memory(const struct abi_value *value, bool is_gcc, enum eightbyte *classes)
{
	classes[0] = classes[1] = NO_CLASS;
	if (value->by_address)
		return true;
	if (abi_is_empty(value) && value->size <= 1)
		return false;
	abi_x86_64_classify(value, is_gcc, classes);
	return classes[0] == MEMORY && (value->is_struct || value->fields[0].kind != ABI_X87);
}

static void x86_64_arguments(const struct abi_function *function, struct abi_place *places)
{
	struct abi_x86_64_state state = {.is_gcc = function->is_gcc};
	enum eightbyte classes[WORDS];

	/* The psABI's paragraph "Returning of Values", 2: the address of a result in memory is the first argument. */
	if (function->result && abi_x86_64_returns_in_memory(function->result, function->is_gcc, classes))
		state.integers = 1;
	else if (function->result && classes[0] == UNKNOWN)
		state.lost_integers = state.lost_sse = state.lost_stack = true;
	for (size_t i = 0; i < function->count; i++) {
		places[i] = (struct abi_place){0};
		abi_x86_64_pass(&function->values[i], &state, &places[i]);
	}
}

/* Sets the location of a result, as the psABI's paragraph "Returning of Values" describes it. */
static void x86_64_place_result(const struct abi_function *function, struct abi_place *place)
{
	const struct abi_value *value = function->result;
	enum eightbyte classes[WORDS];
	struct abi_x86_64_state state = {0};

	*place = (struct abi_place){0};
	if (abi_x86_64_returns_in_memory(value, function->is_gcc, classes)) {
		pass_address(&state, place);
		return;
	}
	if (classes[0] == UNKNOWN)
		return;
	/* MEMORY here means a complex number of x87 type, which is in st0 and st1 ("Returning of Values", 6). */
	if (classes[0] == X87 || classes[0] == MEMORY)
		for (unsigned i = 0; i < (classes[0] == X87 ? 1 : value->field_count); i++)
			abi_add(place, PIECE_X87, 0, value->fields[i].offset, value->fields[i].size,
				X86_ST_AT + 16 * i);
	else
		to_registers(value, classes, 0, 0, place);
}

static uint64_t x86_64_argument_register(const struct arch_regs *regs, unsigned index)
{
	static const unsigned char words[] = {X86_RDI, X86_RSI, X86_RDX, X86_RCX, X86_R8, X86_R9};

	return index < ARRAY_SIZE(words) ? regs->words[words[index]] : 0;
}

static uint64_t x86_64_result_register(const struct arch_regs *regs, unsigned index)
{
	return regs->words[index ? X86_RDX : X86_RAX];
}

/* Gets the thread pointer, which is the base of fs. The word at fs:0 contains the same address (figure 3.4, section
 * 3.4.6). */
static bool x86_64_thread_pointer(const struct arch_regs *regs, uint64_t *value)
{
	*value = regs->words[X86_FS_BASE];
	return *value != 0;
}

static bool x86_64_thread_field(const unsigned char *code, size_t size, uint64_t state, int64_t *offset)
{
	static const unsigned char load[] = {0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0}; /* mov %fs:0, %rax */

	(void)state;
	return x86_thread_field(code, size, load, sizeof(load), true, offset);
}

/* rdi, rsi, rdx, rcx, r8, r9 have these DWARF numbers: AMD64's figure 3.36. */
static unsigned x86_64_argument_dwarf(unsigned index)
{
	static const unsigned char numbers[] = {5, 4, 1, 2, 8, 9};

	return index < ARRAY_SIZE(numbers) ? numbers[index] : UINT32_MAX;
}

/* xmm0 to xmm15 have DWARF numbers 17 to 32: AMD64's figure 3.36. */
static int x86_64_float_at(unsigned dwarf_register)
{
	return dwarf_register >= 17 && dwarf_register <= 32 ? X86_XMM_AT + 16 * ((int)dwarf_register - 17) : -1;
}

const struct arch_abi abi_x86_64 = {
	.floats_set = NT_PRFPREG,
	.vectors_set = NT_X86_XSTATE,
	.arguments = x86_64_arguments,
	.result = x86_64_place_result,
	.argument_register = x86_64_argument_register,
	.result_register = x86_64_result_register,
	.x87_align = 16,
	.argument_dwarf = x86_64_argument_dwarf,
	.float_at = x86_64_float_at,
	.thread_pointer = x86_64_thread_pointer,
	.reloc_tpoff = R_X86_64_TPOFF64,
	.thread_field = x86_64_thread_field,
};
