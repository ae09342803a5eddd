/* Follows how ARM code, in both states, changes its frame (arch/path.h), as described in the ARMv7-A architecture
 * reference manual. If an instruction may change a register in a way that is not followed here, the register becomes
 * unknown. */
#include "config.h"
#include "arch/arm/arm_insn.h"
#include "arch/path.h"

#define BITS(word, from, count) ((word) >> (from) & ((1u << (count)) - 1))
#define BIT(word, n)            ((word) >> (n)&1u)

enum { DATA_SUB = 2, DATA_ADD = 4, DATA_TST = 8, DATA_CMN = 11, DATA_MOV = 13 };

/* The instruction that is being followed. */
struct arm_path_following {
	struct path_state *state;
	struct path_step *step;
	struct insn insn;
	struct arm_op op;
	uint32_t word; /* the instruction; in Thumb, the first half is the high one */
};

static bool end_path(struct arm_path_following *f)
{
	f->step->next = PATH_END;
	return true;
}

static bool return_to_value(struct arm_path_following *f, struct path_value pc)
{
	f->step->next = pc.kind == PATH_UNKNOWN ? PATH_END : PATH_RETURN;
	f->step->pc = pc;
	return true;
}

/* Follows a jump to the value `pc` of a register. A jump to a known value is a return. A jump to an unknown value is
 * taken for a tail call, before which the function has put the return address into lr again. */
static bool leave_by_register(struct arm_path_following *f, struct path_value pc)
{
	f->step->is_jump = pc.kind == PATH_UNKNOWN;
	return return_to_value(f, f->step->is_jump ? f->state->registers[ARM_LR] : pc);
}

static struct path_value arm_path_value_of(const struct arm_path_following *f, unsigned reg)
{
	return reg < ARM_PC ? f->state->registers[reg] : (struct path_value){PATH_UNKNOWN, 0, 0};
}

static void arm_path_set(struct arm_path_following *f, unsigned reg, struct path_value value)
{
	if (reg < ARM_PC)
		f->state->registers[reg] = value;
}

static void arm_path_add_to(struct arm_path_following *f, unsigned reg, int64_t change)
{
	if (reg == ARM_SP)
		path_move_sp(f->state, change);
	else
		arm_path_set(f, reg, path_sum(arm_path_value_of(f, reg), change));
}

/* ---- Loads and stores ---- */

/* Returns true if the instruction pushes the return address that the last call has left in lr. Then the next function
 * begins here, and the last call does not return. */
static bool arm_path_begins_function(const struct arm_path_following *f, uint32_t list, unsigned n, bool writes)
{
	return list >> ARM_LR & 1 && n == ARM_SP && writes && arm_path_value_of(f, ARM_LR).kind == PATH_UNKNOWN;
}

static bool store_many(struct arm_path_following *f, unsigned n, uint32_t list, struct path_value place, int64_t change)
{
	const struct path_value sp = arm_path_value_of(f, ARM_SP);

	if (arm_path_begins_function(f, list, n, change))
		return end_path(f);
	if (change)
		arm_path_add_to(f, n, change);
	/* The lowest register is at the lowest address. It is stored last, so that path_move_sp() removes it first. */
	for (unsigned reg = 16; n == ARM_SP && reg-- > 0;)
		if (list >> reg & 1 &&
		    !path_store(f->state, path_sum(place, 4 * __builtin_popcount(list & ((1u << reg) - 1))),
				reg == ARM_SP ? sp : arm_path_value_of(f, reg)))
			return end_path(f);
	return true;
}

static bool load_many(struct arm_path_following *f, unsigned n, uint32_t list, struct path_value place, int64_t change)
{
	struct path_value values[16];

	for (unsigned reg = 0; reg < 16; reg++) {
		if (!(list >> reg & 1))
			continue;
		values[reg] = path_load(f->state, place);
		place = path_sum(place, 4);
	}
	if (change)
		arm_path_add_to(f, n, change);
	for (unsigned reg = 0; reg < ARM_PC; reg++)
		if (list >> reg & 1)
			arm_path_set(f, reg, values[reg]);
	return list >> ARM_PC & 1 ? return_to_value(f, values[ARM_PC]) : true;
}

/* Follows a load or store of several registers. The lowest register is at the lowest address. */
static bool follow_many(struct arm_path_following *f, bool load, unsigned n, uint32_t list, unsigned flags)
{
	const int64_t size = 4 * __builtin_popcount(list);
	const bool up = flags & OP_UP;
	const struct path_value place =
		path_sum(arm_path_value_of(f, n), (up ? 0 : -size) + (up == !!(flags & OP_BEFORE) ? 4 : 0));
	const int64_t change = flags & OP_WRITEBACK ? (up ? size : -size) : 0;

	return load ? load_many(f, n, list, place, change) : store_many(f, n, list, place, change);
}

/* Follows a load or store of one register, or of the two registers d and s, with `size` bytes in all. */
static bool arm_path_follow_one(struct arm_path_following *f, const struct arm_op *op, unsigned size)
{
	const int64_t offset = op->flags & OP_UP ? (int64_t)op->immediate : -(int64_t)op->immediate;
	const struct path_value unknown = {PATH_UNKNOWN, 0, 0};
	const bool by_register = op->flags & OP_REGISTER, load = op->kind == OP_LOAD;
	const struct path_value base = by_register ? unknown : arm_path_value_of(f, op->n);
	const struct path_value place = path_sum(base, op->flags & OP_BEFORE ? offset : 0);
	const struct path_value first = size >= 4 && load ? path_load(f->state, place) : unknown;
	const struct path_value second = size == 8 && load ? path_load(f->state, path_sum(place, 4)) : unknown;
	const struct path_value stored = arm_path_value_of(f, op->d);

	if (!load && arm_path_begins_function(f, 1u << op->d, op->n, op->flags & OP_WRITEBACK))
		return end_path(f);
	if (op->flags & OP_WRITEBACK && op->n < ARM_PC) {
		if (by_register)
			path_forget(f->state, op->n);
		else
			arm_path_add_to(f, op->n, offset);
	}
	if (!load) {
		if (op->n != ARM_SP || size < 4)
			return true;
		return path_store(f->state, place, stored) && (size != 8 || path_store(f->state, path_sum(place, 4),
										       arm_path_value_of(f, op->s)))
			       ? true
			       : end_path(f);
	}
	if (size == 8)
		arm_path_set(f, op->s, second);
	if (op->d != ARM_PC) {
		arm_path_set(f, op->d, first);
		return true;
	}
	return return_to_value(f, first);
}

/* Follows instructions with vector registers. Only changes of the base, and moves to core registers, matter. Returns
 * false for other instructions. */
static bool follow_vectors(struct arm_path_following *f)
{
	const uint32_t word = f->word;
	const unsigned n = BITS(word, 16, 4), size = BITS(word, 0, 8) * 4;

	if (BITS(word, 25, 3) != 6 || BITS(word, 9, 3) != 5)
		return false;
	if (!BITS(word, 21, 4) || (BITS(word, 23, 2) == 0 && BIT(word, 22))) { /* vmov with two core registers */
		if (BIT(word, 20)) {
			path_forget(f->state, BITS(word, 12, 4));
			path_forget(f->state, n);
		}
		return true;
	}
	if (BIT(word, 21))
		arm_path_add_to(f, n, BIT(word, 23) ? (int64_t)size : -(int64_t)size);
	return true;
}

/* ---- Instructions that the decoders do not describe ---- */

/* Follows svc. The number of the system call is in r7. */
static bool arm_path_follow_system(struct arm_path_following *f)
{
	static const unsigned short last[] = {1 /* exit */, 119 /* sigreturn */, 173 /* rt_sigreturn */,
					      248 /* exit_group */};

	if (path_ends(arm_path_value_of(f, 7), last, sizeof(last) / sizeof(last[0])))
		f->step->next = PATH_END;
	path_forget(f->state, 0);
	return true;
}

static void follow_wide_sum(struct arm_path_following *f, unsigned d, unsigned n, bool down, uint32_t number)
{
	const struct path_value sum = path_sum(arm_path_value_of(f, n), down ? -(int64_t)number : (int64_t)number);

	if (d == ARM_SP && n == ARM_SP)
		path_move_sp(f->state, down ? -(int64_t)number : (int64_t)number);
	else
		arm_path_set(f, d, sum);
}

/* Follows data processing with an immediate. Only operations on sp are followed. */
static void follow_thumb_number(struct arm_path_following *f, uint32_t first, uint32_t second)
{
	const uint32_t number = BIT(first, 10) << 11 | BITS(second, 12, 3) << 8 | BITS(second, 0, 8);
	const unsigned d = BITS(second, 8, 4), n = BITS(first, 0, 4), what = BITS(first, 4, 6);
	const unsigned code = BITS(first, 5, 4);
	uint8_t amount;

	if (n == ARM_SP && !BIT(first, 9) && (code == 8 || code == 13) && d != ARM_PC)
		follow_wide_sum(f, d, n, code == 13, thumb_number(number, &amount));
	else if (n == ARM_SP && BIT(first, 9) && (what == 0x20 || what == 0x2a))
		follow_wide_sum(f, d, n, what == 0x2a, number);
	else
		path_forget(f->state, d);
}

/* Follows loads and stores of one register that were not decoded: those of sp or lr, hints, and rare ones. */
static bool follow_thumb_access(struct arm_path_following *f, uint32_t first, uint32_t second)
{
	struct arm_op op = {.kind = BIT(first, 4) ? OP_LOAD : OP_STORE, .n = (uint8_t)BITS(first, 0, 4)};

	op.d = (uint8_t)BITS(second, 12, 4);
	if (first >> 8 == 0xf9 && !BIT(first, 4)) { /* elements of vectors */
		if (BITS(second, 0, 4) != ARM_PC)
			path_forget(f->state, op.n);
		return true;
	}
	if (op.d == ARM_PC)
		return true; /* a hint; loads of the pc have been decoded */
	if (BIT(first, 7)) {
		op.flags = OP_BEFORE | OP_UP;
		op.immediate = BITS(second, 0, 12);
	} else if (BIT(second, 11)) {
		op.flags = (uint8_t)((BIT(second, 10) ? OP_BEFORE : 0) | (BIT(second, 9) ? OP_UP : 0) |
				     (BIT(second, 8) ? OP_WRITEBACK : 0));
		op.immediate = BITS(second, 0, 8);
	} else {
		op.flags = OP_BEFORE | OP_UP | OP_REGISTER;
	}
	return arm_path_follow_one(f, &op, BITS(first, 5, 2) == 2 ? 4 : 1);
}

static bool follow_thumb_pair(struct arm_path_following *f, uint32_t first, uint32_t second)
{
	const struct arm_op op = {
		.kind = BIT(first, 4) ? OP_LOAD : OP_STORE,
		.n = (uint8_t)BITS(first, 0, 4),
		.d = (uint8_t)BITS(second, 12, 4),
		.s = (uint8_t)BITS(second, 8, 4),
		.immediate = BITS(second, 0, 8) * 4,
		.flags = (uint8_t)((BIT(first, 8) ? OP_BEFORE : 0) | (BIT(first, 7) ? OP_UP : 0) |
				   (BIT(first, 5) ? OP_WRITEBACK : 0)),
	};

	if (BIT(first, 8) || BIT(first, 5))
		return arm_path_follow_one(f, &op, 8);
	/* ldrex and others: one or two of these registers are results */
	path_forget(f->state, op.d);
	path_forget(f->state, op.s);
	path_forget(f->state, BITS(second, 0, 4));
	return true;
}

static bool follow_thumb_plain(struct arm_path_following *f)
{
	const uint32_t first = f->word >> 16, second = f->word & 0xffff;

	if (f->insn.length == 2) {
		const unsigned what = BITS(first, 6, 10);

		if (first >> 8 == 0xdf)
			return arm_path_follow_system(f);
		/* mul, shifts by a register; extensions, byte reversals */
		if (BITS(first, 10, 6) == 0x10 || what >> 2 == 0xb2 || what >> 2 == 0xba)
			path_forget(f->state, BITS(first, 0, 3));
		else if (first >> 12 == 12) /* stmia, ldmia */
			return follow_many(f, BIT(first, 11), BITS(first, 8, 3), BITS(first, 0, 8),
					   OP_UP | OP_WRITEBACK);
		else if (BITS(first, 9, 7) == 0x5e) /* pop without pc */
			return follow_many(f, true, ARM_SP, BITS(first, 0, 8), OP_UP | OP_WRITEBACK);
		return true;
	}
	if (first >> 11 == 0x1e && !BIT(second, 15)) {
		follow_thumb_number(f, first, second);
	} else if (first >> 9 == 0x7c) {
		return follow_thumb_access(f, first, second);
	} else if (first >> 9 == 0x74 && BIT(first, 6)) {
		return follow_thumb_pair(f, first, second);
	} else if (!follow_vectors(f)) {
		path_forget(f->state, BITS(second, 8, 4));
		path_forget(f->state, first >> 9 == 0x75 ? ARM_PC : BITS(second, 12, 4));
	}
	return true;
}

/* Follows loads and stores of half words, signed bytes and two words; multiplications and exclusive accesses. */
static bool follow_extra(struct arm_path_following *f)
{
	const uint32_t word = f->word;
	const unsigned what = BITS(word, 5, 2);
	const bool pair = !BIT(word, 20) && what >= 2, before = BIT(word, 24);
	const struct arm_op op = {
		.kind = BIT(word, 20) || what == 2 ? OP_LOAD : OP_STORE,
		.n = (uint8_t)BITS(word, 16, 4),
		.d = (uint8_t)BITS(word, 12, 4),
		.s = (uint8_t)(BITS(word, 12, 4) + 1),
		.immediate = BITS(word, 8, 4) << 4 | BITS(word, 0, 4),
		.flags = (uint8_t)((before ? OP_BEFORE : 0) | (BIT(word, 23) ? OP_UP : 0) |
				   (!before || BIT(word, 21) ? OP_WRITEBACK : 0) | (BIT(word, 22) ? 0 : OP_REGISTER)),
	};

	if (what)
		return arm_path_follow_one(f, &op, pair ? 8 : 2);
	path_forget(f->state, op.n);
	path_forget(f->state, op.d);
	return true;
}

static bool follow_a32_plain(struct arm_path_following *f)
{
	const uint32_t word = f->word;

	if (word >> 28 == 15) {
		if ((word & 0xff100000) == 0xf4000000 && BITS(word, 0, 4) != ARM_PC)
			path_forget(f->state, BITS(word, 16, 4)); /* elements of vectors, with writeback */
		return true;
	}
	if (BITS(word, 24, 4) == 15)
		return arm_path_follow_system(f);
	if (BITS(word, 25, 3) == 0 && BIT(word, 7) && BIT(word, 4))
		return follow_extra(f);
	if (follow_vectors(f))
		return true;
	path_forget(f->state, BITS(word, 12, 4));
	if (BITS(word, 25, 3) == 3 || (word & 0x0fe00000) == 0x0c400000 || (word & 0x0f900090) == 0x01000080)
		path_forget(f->state, BITS(word, 16, 4)); /* media, mrrc, smulxy */
	return true;
}

/* ---- Instructions that the decoders describe ---- */

static bool arm_path_follow_data(struct arm_path_following *f)
{
	const struct arm_op *op = &f->op;
	const bool by_register = op->flags & OP_REGISTER;
	const bool is_shifted = op->amount || op->shift || (!(op->flags & OP_THUMB) && by_register && BIT(f->word, 4));
	struct path_value value = {PATH_UNKNOWN, 0, 0};

	if (op->code >= DATA_TST && op->code <= DATA_CMN)
		return true;
	if (op->code == DATA_MOV && by_register && !is_shifted)
		value = arm_path_value_of(f, op->m);
	else if (op->code == DATA_MOV && !by_register)
		value = (struct path_value){PATH_NUMBER, 0, (int32_t)op->immediate};
	else if (!by_register && (op->code == DATA_ADD || op->code == DATA_SUB))
		value = path_sum(arm_path_value_of(f, op->n),
				 op->code == DATA_ADD ? (int64_t)op->immediate : -(int64_t)op->immediate);
	if (op->d == ARM_PC)
		return op->code == DATA_MOV && by_register ? leave_by_register(f, value) : end_path(f);
	arm_path_set(f, op->d, value);
	if (op->d == ARM_SP)
		path_move_sp(f->state, 0);
	return true;
}

static bool follow_branch_register(struct arm_path_following *f)
{
	const struct arm_op *op = &f->op;

	if (op->flags & OP_LINK) {
		path_call(f->state, f->state->arch->dwarf.preserved);
		return true;
	}
	if (op->m != ARM_PC)
		return leave_by_register(f, op->m == ARM_LR ? f->state->registers[ARM_LR]
							    : (struct path_value){PATH_UNKNOWN, 0, 0});
	f->step->next = PATH_JUMP;
	f->step->target = arm_pc_read(&f->insn, op);
	return true;
}

static bool follow_op(struct arm_path_following *f)
{
	const struct arm_op *op = &f->op;

	switch (op->kind) {
	case OP_NOP:
		return true;
	case OP_IT:
		f->state->conditional = (unsigned char)(4 - __builtin_ctz(op->code & 15));
		return true;
	case OP_BRANCH:
		if (op->flags & OP_LINK) {
			path_call(f->state, f->state->arch->dwarf.preserved);
			return true;
		}
		/* If lr contains the return address again, the jump is a tail call, or leads to a return by lr. */
		if (op->condition == ARM_ALWAYS && f->state->registers[ARM_LR].kind == PATH_MEMORY)
			return leave_by_register(f, f->state->registers[ARM_LR]);
		f->step->next = op->condition == ARM_ALWAYS ? PATH_JUMP : PATH_BRANCH;
		f->step->target = op->immediate;
		return true;
	case OP_BRANCH_REGISTER:
		return follow_branch_register(f);
	case OP_COMPARE_BRANCH:
		f->step->next = PATH_BRANCH;
		f->step->target = op->immediate;
		return true;
	case OP_TABLE_BRANCH:
		return end_path(f);
	case OP_LOAD:
	case OP_STORE:
		return arm_path_follow_one(f, op, op->code);
	case OP_LOAD_MANY:
	case OP_STORE_MANY:
		return follow_many(f, op->kind == OP_LOAD_MANY, op->n, op->list, op->flags);
	case OP_DATA:
		return arm_path_follow_data(f);
	default:
		return op->flags & OP_THUMB ? follow_thumb_plain(f) : follow_a32_plain(f);
	}
}

/* Corrects the state after a conditional instruction, which is not always executed: the registers and words that it
 * changes become unknown. */
static void under_condition(struct arm_path_following *f, const struct path_state *before)
{
	struct path_state *state = f->state;

	if (f->step->next == PATH_RETURN) {
		f->step->next = PATH_MAYBE;
		f->step->returned = *state;
		*state = *before;
		return;
	}
	if (f->step->next == PATH_JUMP) {
		f->step->next = PATH_BRANCH;
		return;
	}
	if (f->step->next == PATH_END) { /* an unknown jump, which is not always taken */
		f->step->next = PATH_NEXT;
		*state = *before;
		return;
	}
	if (!path_same(state->registers[ARM_SP], before->registers[ARM_SP])) {
		f->step->next = PATH_END;
		return;
	}
	for (unsigned i = 0; i < state->word_count; i++)
		if (i >= before->word_count || !path_same(state->words[i].value, before->words[i].value))
			state->words[i].value = (struct path_value){PATH_UNKNOWN, 0, 0};
	for (unsigned i = 0; i < ARM_PC; i++)
		if (!path_same(state->registers[i], before->registers[i]))
			path_forget(state, i);
}

bool arm_follow(struct path_state *state, const unsigned char *code, size_t size, struct path_step *step)
{
	struct arm_path_following f = {.state = state, .step = step};
	const struct path_state before = *state;
	const bool in_block = state->conditional;

	if (!arm_read(state->address, code, size, &f.insn))
		return false;
	f.op = arm_op_of(&f.insn);
	memcpy(&f.word, code, f.insn.length);
	if (state->address & 1)
		f.word = f.insn.length == 2 ? f.word << 16 : f.word << 16 | f.word >> 16;
	step->next = PATH_NEXT;
	step->is_jump = false;
	follow_op(&f);
	if (in_block || (f.op.condition != ARM_ALWAYS && f.op.kind != OP_BRANCH))
		under_condition(&f, &before);
	if (in_block)
		state->conditional = before.conditional - 1;
	state->address = before.address + f.insn.length;
	return true;
}
