/* Walks a stack by rows. */
#include "config.h"
#include "unwind/return_address.h"

#include <errno.h>

struct row_walk {
	struct unwinder *unwinder;
	struct stack_memory *memory;
	const struct arch *arch;
	struct frame_registers registers;
	bool is_sp_least;    /* true if sp's value in `registers` is only a lower limit */
	bool is_interrupted; /* true if a signal interrupted the frame, and the signal frame contains all registers */
	uint64_t state;      /* bits of code_state for the interrupted code */
};

/* The result of stepping over one frame. */
enum step {
	STEP_CALLER,    /* the registers are now the caller's, and *pc is the return address */
	STEP_OUTERMOST, /* the frame has no caller; sp may have changed */
	STEP_CUT,
	STEP_OTHER,
};

static uint64_t all_registers(const struct arch *arch)
{
	return arch->dwarf.registers < 64 ? (1ull << arch->dwarf.registers) - 1 : UINT64_MAX;
}

static enum step step_normal(struct row_walk *walk, const struct row *row, uint64_t *pc)
{
	struct frame_registers *registers = &walk->registers;
	uint64_t known = registers->known & row->same;

	if (!(registers->known >> row->cfa_register & 1))
		return STEP_OTHER;
	const uint64_t cfa = unwind_memory_sum(walk->memory, registers->values[row->cfa_register], row->cfa_offset);

	if (!unwind_memory_word(walk->memory, unwind_memory_sum(walk->memory, cfa, row->offsets[0]), pc))
		return STEP_CUT;
	for (unsigned i = 1; i < row->saved_count; i++) {
		const unsigned reg = row->registers[i];

		if (unwind_memory_word(walk->memory, unwind_memory_sum(walk->memory, cfa, row->offsets[i]),
				       &registers->values[reg]))
			known |= 1ull << reg;
	}
	registers->values[walk->arch->dwarf.sp] = cfa;
	registers->values[row->registers[0]] = *pc; /* set, because the rule of a PLT computes the CFA from the pc */
	registers->known = known | 1ull << walk->arch->dwarf.sp | 1ull << row->registers[0];
	return STEP_CALLER;
}

/* Computes a value by a rule. Returns 0, -EFAULT or -EINVAL, as expression_evaluate() does. */
static int apply_rule(struct row_walk *walk, const struct row_rule *rule, uint64_t cfa, uint64_t *value)
{
	const struct frame_registers *registers = &walk->registers;
	uint64_t address;
	int error;

	switch (rule->kind) {
	case RULE_AT_CFA:
		return unwind_memory_word(walk->memory, unwind_memory_sum(walk->memory, cfa, rule->offset), value)
			       ? 0
			       : -EFAULT;
	case RULE_CFA:
		*value = unwind_memory_sum(walk->memory, cfa, rule->offset);
		return 0;
	case RULE_REGISTER:
		if (!(registers->known >> rule->base & 1))
			return -EINVAL;
		*value = unwind_memory_sum(walk->memory, registers->values[rule->base], rule->offset);
		return 0;
	case RULE_AT:
		error = expression_evaluate(rule->ops, rule->op_count, registers, cfa, walk->memory, &address);
		if (error)
			return error;
		return unwind_memory_word(walk->memory, address, value) ? 0 : -EFAULT;
	case RULE_VALUE:
		return expression_evaluate(rule->ops, rule->op_count, registers, cfa, walk->memory, value);
	}
	return -EINVAL;
}

static enum step failed_step(int error)
{
	return error == -EFAULT ? STEP_CUT : STEP_OTHER;
}

/* Steps to the caller by rules. If a rule fails for a register other than the return address, only this register
 * becomes unknown. */
static enum step step_rules(struct row_walk *walk, const struct row *row, uint64_t *pc)
{
	const struct row_rules *rules = row->rules;
	const unsigned sp = walk->arch->dwarf.sp;
	struct frame_registers next = walk->registers;
	uint64_t cfa;
	int error = apply_rule(walk, &rules->cfa, 0, &cfa);

	if (error)
		return row->kind == ROW_END ? STEP_OUTERMOST : failed_step(error);
	next.values[sp] = cfa;
	next.known = (next.known & row->same) | 1ull << sp;
	for (unsigned i = 0; i < rules->count; i++) {
		uint64_t value;
		const unsigned target = rules->items[i].target;

		error = apply_rule(walk, &rules->items[i], cfa, &value);
		if (i == 0 && row->kind != ROW_END) {
			if (error)
				return failed_step(error);
			*pc = value;
		}
		if (error) {
			next.known &= ~(1ull << target);
		} else {
			next.values[target] = value;
			next.known |= 1ull << target;
		}
	}
	walk->registers = next;
	return row->kind == ROW_END ? STEP_OUTERMOST : STEP_CALLER;
}

/* Sets walk->state for the code that a signal has interrupted, from the word after the pc in the signal frame. pc_at:
 * address of that pc. Returns false if the word cannot be read, or if the code cannot be followed from that pc. */
static bool find_state(struct row_walk *walk, uint64_t pc_at)
{
	const struct arch *arch = walk->arch;
	uint64_t word;

	walk->state = 0;
	if (!arch->signal.frame_state)
		return true;
	return unwind_memory_word(walk->memory, unwind_memory_sum(walk->memory, pc_at, arch->pointer_size), &word) &&
	       arch->signal.frame_state(word, &walk->state);
}

/* Reads all registers of the interrupted code from the signal frame. */
static enum step step_signal(struct row_walk *walk, uint64_t *pc)
{
	const struct arch *arch = walk->arch;
	struct frame_registers *registers = &walk->registers;

	const struct arch_memory memory = {.read = stack_memory_read, .context = walk->memory};
	uint64_t pc_at, sp_at;

	if (!(registers->known >> arch->dwarf.sp & 1) ||
	    arch->signal.frame(registers->values[arch->dwarf.sp] - arch->signal.frame_return_size, &memory, &pc_at,
			       &sp_at) < 0)
		return STEP_CUT;

	for (unsigned i = 0; i < arch->dwarf.registers; i++) {
		const int64_t words =
			arch->signal.frame_registers ? arch->signal.frame_registers[i] : (int64_t)i - arch->dwarf.pc;
		const int64_t offset = words * arch->pointer_size;

		if (!unwind_memory_word(walk->memory, unwind_memory_sum(walk->memory, pc_at, offset),
					&registers->values[i]))
			return STEP_CUT;
	}
	registers->known = all_registers(arch);
	*pc = registers->values[arch->dwarf.pc];
	walk->is_interrupted = find_state(walk, pc_at);
	return STEP_CALLER;
}

/* Returns true if code without a rule is a thread's first function in the C library. Then the next return address on
 * the stack is in the code where threads start. */
#define START_SCAN 1024 /* number of bytes that are searched for that return address */

static bool is_called_by_start(struct row_walk *walk)
{
	const struct arch *arch = walk->arch;
	const uint64_t sp = walk->registers.values[arch->dwarf.sp];
	uint64_t word;

	if (!arch->unwind.index_segment)
		return false;
	for (unsigned at = 0; at < START_SCAN; at += arch->pointer_size) {
		if (!unwind_memory_word(walk->memory, unwind_memory_sum(walk->memory, sp, at), &word))
			return false;
		if (unwinder_may_return(walk->unwinder, word))
			return unwinder_find_start(walk->unwinder, word, false);
	}
	return false;
}

/* Returns the rule for a frame. If no table has a rule, derives one from the code, but only for code that a signal has
 * interrupted, or that has called the kernel's entry code (ROW_SYSTEM). */
static const struct row *frame_row(struct row_walk *walk, uint64_t pc, bool exact)
{
	const struct row *row = unwinder_frame_row(walk->unwinder, pc, exact);
	const bool is_interrupted = walk->is_interrupted;

	walk->is_interrupted = false;
	if (!row || (row->kind != ROW_SYSTEM && !(is_interrupted && row->kind == ROW_NONE)))
		return row;
	const uint64_t code = is_interrupted ? pc | walk->state : pc;
	const struct row *read =
		unwinder_interrupted_row(walk->unwinder, code, walk->registers.values[walk->arch->dwarf.sp]);

	return read ? read : row;
}

/* Steps over a frame that no table describes. Uses the rule that was made from the frame's code, if the rule yields a
 * return address that follows a call; otherwise uses the frame pointer. With the frame pointer, the caller's sp is only
 * a lower limit, because the callee may have removed arguments. Returns STEP_OUTERMOST if a thread starts in the
 * frame's code. */
static enum step step_untold(struct row_walk *walk, const struct row *row, uint64_t *pc, bool exact)
{
	const struct frame_registers registers = walk->registers;
	const bool is_unknown = walk->is_sp_least && row->cfa_register == walk->arch->dwarf.sp;
	uint64_t caller = 0;

	walk->is_sp_least = false;
	if (row->kind == ROW_NONE && (unwinder_find_start(walk->unwinder, *pc, exact) || is_called_by_start(walk)))
		return STEP_OUTERMOST;
	if ((row->kind == ROW_NORMAL && !is_unknown && step_normal(walk, row, &caller) == STEP_CALLER) ||
	    (row->kind == ROW_RULES && step_rules(walk, row, &caller) == STEP_CALLER)) {
		if (unwinder_is_return(walk->unwinder, return_address_plain(walk->arch, caller))) {
			*pc = caller;
			return STEP_CALLER;
		}
		walk->registers = registers;
	}
	if (!frame_pointer_caller(walk->unwinder, &walk->registers, pc))
		return STEP_CUT;
	walk->is_sp_least = true;
	return STEP_CALLER;
}

static enum step step_frame(struct row_walk *walk, const struct row *row, uint64_t *pc, bool exact)
{
	if (!row)
		return STEP_CUT;
	if (__builtin_expect(row->from_code || row->kind == ROW_NONE, 0))
		return step_untold(walk, row, pc, exact);
	walk->is_sp_least = false;
	switch (row->kind) {
	case ROW_NORMAL:
		return step_normal(walk, row, pc);
	case ROW_RULES:
	case ROW_END:
		return step_rules(walk, row, pc);
	case ROW_SIGNAL:
		return step_signal(walk, pc);
	case ROW_START:
		return STEP_OUTERMOST;
	case ROW_OTHER:
		return STEP_OTHER;
	default:
		return STEP_CUT;
	}
}

static void row_walk_begin(struct row_walk *walk, struct unwinder *unwinder, const struct stack_snapshot *snapshot)
{
	const unsigned count = snapshot->arch->dwarf.registers;

	walk->unwinder = unwinder;
	walk->memory = &unwinder->memory;
	walk->arch = snapshot->arch;
	walk->is_interrupted = walk->is_sp_least = false;
	for (unsigned i = 0; i < count && i < ROW_REGISTER_MAX; i++)
		walk->registers.values[i] = snapshot->arch->dwarf.get(&snapshot->regs, i);
	walk->registers.known = snapshot->is_partial ? 1ull << walk->arch->dwarf.sp | walk->arch->dwarf.frames
						     : all_registers(walk->arch);
}

enum walk_end rows_walk(struct unwinder *unwinder, struct walk_request *request)
{
	const struct stack_snapshot *snapshot = request->snapshot;
	struct unwind_frame *frame = request->frames;
	struct walk_progress progress = {.sp = snapshot->arch->registers.sp(&snapshot->regs)};
	struct row_walk walk;
	uint64_t pc = snapshot->arch->registers.pc(&snapshot->regs);
	bool exact = request->exact;

	row_walk_begin(&walk, unwinder, snapshot);
	*frame = (struct unwind_frame){.pc = pc, .cfa = progress.sp};
	for (request->count = 1;; request->count++, frame++) {
		const struct row *row = frame_row(&walk, pc, exact);

		if (__builtin_expect(row && row->kind == ROW_NOT_CODE, 0)) {
			request->count--;
			return WALK_CUT;
		}
		const enum step step = step_frame(&walk, row, &pc, exact);
		const uint64_t sp = walk.registers.values[walk.arch->dwarf.sp];

		if (step == STEP_OUTERMOST) {
			if (sp > frame->cfa)
				frame->cfa = sp;
			return WALK_COMPLETE;
		}
		if (step != STEP_CALLER)
			return step == STEP_OTHER ? WALK_OTHER : WALK_CUT;
		pc = return_address_plain(walk.arch, pc);
		/* A frame that is its own caller has a wrong rule: by the rule, the return address is still in the link
		 * register, but a call in the frame's code has overwritten this register. */
		if (arch_text_address(walk.arch, pc ^ frame->pc) == 0 && sp == progress.sp)
			return WALK_CUT;
		if (!progress_to(&progress, sp, row->signal || row->kind == ROW_RULES, request->count == 1))
			return WALK_CUT;
		frame->cfa = sp;
		if (!pc || request->count == request->max || (request->until_cfa && sp >= request->until_cfa)) {
			if (request->registers)
				*request->registers = walk.registers;
			return WALK_COMPLETE;
		}
		exact = row->signal;
		frame[1] = (struct unwind_frame){.pc = pc, .cfa = sp, .signal = exact};
	}
}
