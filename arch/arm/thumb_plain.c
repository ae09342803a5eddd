/* Decodes Thumb instructions that do not use the pc. They are emulated if there is no room for copies. Most
 * functions, and most code after calls, begin with one of them. See the ARMv7-A architecture reference manual, A6. */
#include "config.h"
#include "arch/arm/arm_insn.h"

#define BITS(word, from, count) ((word) >> (from) & ((1u << (count)) - 1))
#define BIT(word, n)            ((word) >> (n)&1u)

/* Data processing operations, with A32's numbers. */
enum {
	DATA_AND = 0,
	DATA_EOR,
	DATA_SUB,
	DATA_RSB,
	DATA_ADD,
	DATA_ADC,
	DATA_SBC,
	DATA_TST = 8,
	DATA_TEQ,
	DATA_CMP,
	DATA_CMN,
	DATA_ORR,
	DATA_MOV,
	DATA_BIC,
	DATA_MVN,
	NO_DATA,
};

static void set_data_operation(struct insn *insn, struct arm_op *op, unsigned code, unsigned d, unsigned n)
{
	insn->can_emulate = true;
	op->kind = OP_DATA;
	op->code = (uint8_t)code;
	op->d = (uint8_t)d;
	op->n = (uint8_t)n;
}

/* ---- Two bytes: set flags only outside of IT blocks, see arm_emulate() ---- */

static void with_number(struct insn *insn, struct arm_op *op, unsigned code, unsigned d, unsigned n, uint32_t number)
{
	set_data_operation(insn, op, code, d, n);
	op->flags |= OP_SETS_FLAGS;
	op->immediate = number;
}

static void with_register(struct insn *insn, struct arm_op *op, unsigned code, unsigned d, unsigned n, unsigned m)
{
	set_data_operation(insn, op, code, d, n);
	op->flags |= OP_SETS_FLAGS | OP_REGISTER;
	op->m = (uint8_t)m;
}

/* Decodes lsl, lsr and asr by a number; add and sub of low registers and of small numbers. */
static void decode_shift_or_sum(struct insn *insn, struct arm_op *op, uint32_t half)
{
	const unsigned d = BITS(half, 0, 3), n = BITS(half, 3, 3), m = BITS(half, 6, 3);
	const unsigned code = BIT(half, 9) ? DATA_SUB : DATA_ADD;

	if (BITS(half, 11, 2) < 3) {
		with_register(insn, op, DATA_MOV, d, 0, n);
		op->shift = (uint8_t)BITS(half, 11, 2);
		op->amount = (uint8_t)BITS(half, 6, 5);
	} else if (BIT(half, 10)) {
		with_number(insn, op, code, d, n, m);
	} else {
		with_register(insn, op, code, d, n, m);
	}
}

/* Decodes operations on two low registers, the first of which gets the result, except mul and shifts by a register. */
static void decode_of_two(struct insn *insn, struct arm_op *op, uint32_t half)
{
	static const unsigned char codes[] = {DATA_AND, DATA_EOR, NO_DATA,  NO_DATA, NO_DATA,  DATA_ADC,
					      DATA_SBC, NO_DATA,  DATA_TST, NO_DATA, DATA_CMP, DATA_CMN,
					      DATA_ORR, NO_DATA,  DATA_BIC, DATA_MVN};
	const unsigned what = BITS(half, 6, 4), d = BITS(half, 0, 3), m = BITS(half, 3, 3);

	if (what == 9) /* neg */
		with_number(insn, op, DATA_RSB, d, m, 0);
	else if (codes[what] != NO_DATA)
		with_register(insn, op, codes[what], d, d, m);
}

static void set_load_store(struct insn *insn, struct arm_op *op, bool load, unsigned size, unsigned d, unsigned n)
{
	insn->can_emulate = true;
	op->kind = load ? OP_LOAD : OP_STORE;
	op->code = (uint8_t)size;
	op->d = (uint8_t)d;
	op->n = (uint8_t)n;
	op->flags |= OP_BEFORE | OP_UP;
}

static void decode_by_register(struct insn *insn, struct arm_op *op, uint32_t half)
{
	static const struct {
		bool load, is_signed;
		unsigned char size;
	} how[] = {{.size = 4},
		   {.size = 2},
		   {.size = 1},
		   {.load = true, .is_signed = true, .size = 1},
		   {.load = true, .size = 4},
		   {.load = true, .size = 2},
		   {.load = true, .size = 1},
		   {.load = true, .is_signed = true, .size = 2}};
	const unsigned what = BITS(half, 9, 3);

	set_load_store(insn, op, how[what].load, how[what].size, BITS(half, 0, 3), BITS(half, 3, 3));
	op->flags |= OP_REGISTER;
	op->flags |= how[what].is_signed ? OP_SIGNED : 0;
	op->m = (uint8_t)BITS(half, 6, 3);
}

static void decode_by_number(struct insn *insn, struct arm_op *op, uint32_t half)
{
	const unsigned size = half >> 12 == 8 ? 2 : BIT(half, 12) ? 1 : 4;

	set_load_store(insn, op, BIT(half, 11), size, BITS(half, 0, 3), BITS(half, 3, 3));
	op->immediate = BITS(half, 6, 5) * size;
}

void thumb_plain_t16(struct insn *insn, struct arm_op *op, uint32_t half)
{
	static const unsigned char codes[] = {DATA_MOV, DATA_CMP, DATA_ADD, DATA_SUB};
	const unsigned r = BITS(half, 8, 3), code = codes[BITS(half, 11, 2)];

	switch (half >> 12) {
	case 0:
	case 1:
		decode_shift_or_sum(insn, op, half);
		break;
	case 2:
	case 3:
		with_number(insn, op, code, code == DATA_CMP ? 0 : r, code == DATA_MOV ? 0 : r, BITS(half, 0, 8));
		break;
	case 4:
		if (half >> 10 == 0x10)
			decode_of_two(insn, op, half);
		break;
	case 5:
		decode_by_register(insn, op, half);
		break;
	case 6:
	case 7:
	case 8:
		decode_by_number(insn, op, half);
		break;
	case 9: /* access relative to sp */
		set_load_store(insn, op, BIT(half, 11), 4, r, ARM_SP);
		op->immediate = BITS(half, 0, 8) * 4;
		break;
	case 10: /* add of sp; the other form is adr */
		set_data_operation(insn, op, DATA_ADD, r, ARM_SP);
		op->immediate = BITS(half, 0, 8) * 4;
		break;
	default:
		if (half >> 8 != 0xb0)
			break;
		set_data_operation(insn, op, BIT(half, 7) ? DATA_SUB : DATA_ADD, ARM_SP, ARM_SP);
		op->immediate = BITS(half, 0, 7) * 4;
		break;
	}
}

/* ---- Four bytes ---- */

/* Returns the number that operation `what` has in A32. (With the pc as n, it is mov or mvn. With the pc as d and with
 * sets_flags, it is a comparison.) Returns NO_DATA, so that the instruction is not emulated, if A32 has no such
 * operation, if n is sp, if d is sp or lr, or if d is the pc and the operation is no comparison. */
static unsigned wide_code(unsigned what, bool sets_flags, unsigned d, unsigned n)
{
	static const unsigned char codes[16] = {
		DATA_AND, DATA_BIC, DATA_ORR, NO_DATA,  DATA_EOR, NO_DATA,  NO_DATA,  NO_DATA,
		DATA_ADD, NO_DATA,  DATA_ADC, DATA_SBC, NO_DATA,  DATA_SUB, DATA_RSB, NO_DATA,
	};
	const bool is_compared = d == ARM_PC && sets_flags, is_alone = n == ARM_PC;

	if (is_alone)
		return d >= ARM_SP ? NO_DATA : what == 2 ? DATA_MOV : what == 3 ? DATA_MVN : NO_DATA;
	if (is_compared && n != ARM_SP)
		return what == 0    ? DATA_TST
		       : what == 4  ? DATA_TEQ
		       : what == 8  ? DATA_CMN
		       : what == 13 ? DATA_CMP
				    : NO_DATA;
	return d >= ARM_SP || n == ARM_SP ? NO_DATA : codes[what];
}

static bool wide_data(struct insn *insn, struct arm_op *op, uint32_t first, uint32_t second)
{
	const unsigned d = BITS(second, 8, 4), n = BITS(first, 0, 4);
	const bool sets_flags = BIT(first, 4);
	const unsigned code = wide_code(BITS(first, 5, 4), sets_flags, d, n);

	if (code == NO_DATA)
		return false;
	set_data_operation(insn, op, code, d == ARM_PC ? 0 : d, n == ARM_PC ? 0 : n);
	op->flags |= sets_flags ? OP_SETS_FLAGS : 0;
	return true;
}

uint32_t thumb_number(uint32_t number, uint8_t *amount)
{
	const uint32_t byte = BITS(number, 0, 8), turn = BITS(number, 7, 5), value = byte | 0x80;

	*amount = 0;
	switch (BITS(number, 8, 4)) {
	case 0:
		return byte;
	case 1:
		return byte << 16 | byte;
	case 2:
		return byte << 24 | byte << 8;
	case 3:
		return byte << 24 | byte << 16 | byte << 8 | byte;
	default:
		*amount = (uint8_t)turn; /* the rotation is at least 8 */
		return value >> turn | value << (32 - turn);
	}
}

static void decode_numbers(struct insn *insn, struct arm_op *op, uint32_t first, uint32_t second)
{
	const uint32_t number = BIT(first, 10) << 11 | BITS(second, 12, 3) << 8 | BITS(second, 0, 8);
	const unsigned d = BITS(second, 8, 4), n = BITS(first, 0, 4), what = BITS(first, 4, 6);

	if (!BIT(first, 9)) {
		if (wide_data(insn, op, first, second))
			op->immediate = thumb_number(number, &op->amount);
		return;
	}
	if (d >= ARM_SP)
		return;
	if (what == 0x24) { /* movw */
		set_data_operation(insn, op, DATA_MOV, d, 0);
		op->immediate = n << 12 | number;
	} else if ((what == 0x20 || what == 0x2a) && n != ARM_PC) { /* addw, subw; with the pc they are adr */
		set_data_operation(insn, op, what == 0x20 ? DATA_ADD : DATA_SUB, d, n);
		op->immediate = number;
	}
}

static void thumb_plain_decode_registers(struct insn *insn, struct arm_op *op, uint32_t first, uint32_t second)
{
	if (BITS(second, 0, 4) >= ARM_SP || BIT(second, 15) || !wide_data(insn, op, first, second))
		return;
	op->flags |= OP_REGISTER;
	op->m = (uint8_t)BITS(second, 0, 4);
	op->shift = (uint8_t)BITS(second, 4, 2);
	op->amount = (uint8_t)(BITS(second, 12, 3) << 2 | BITS(second, 6, 2));
}

/* Decodes loads and stores of one register, except unprivileged ones, which have a similar encoding. */
static void decode_accesses(struct insn *insn, struct arm_op *op, uint32_t first, uint32_t second)
{
	const unsigned size = 1u << BITS(first, 5, 2), d = BITS(second, 12, 4), n = BITS(first, 0, 4);
	const bool load = BIT(first, 4), is_signed = BIT(first, 8), how = BIT(second, 11);

	if (size > 4 || d >= ARM_SP || n == ARM_PC || (is_signed && (!load || size == 4)))
		return;
	if (!BIT(first, 7) && how && (!BITS(second, 8, 3) || BITS(second, 8, 3) == 6 || BITS(second, 8, 3) == 2))
		return;
	if (!BIT(first, 7) && how && BIT(second, 8) && d == n)
		return; /* UNPREDICTABLE: the base is written back and is also loaded or stored */
	if (!BIT(first, 7) && !how && (BITS(second, 6, 5) || BITS(second, 0, 4) >= ARM_SP))
		return;
	set_load_store(insn, op, load, size, d, n);
	op->flags |= is_signed ? OP_SIGNED : 0;
	if (BIT(first, 7)) {
		op->immediate = BITS(second, 0, 12);
	} else if (how) {
		op->immediate = BITS(second, 0, 8);
		op->flags &= (uint8_t) ~(OP_BEFORE | OP_UP);
		op->flags |= (uint8_t)((BIT(second, 10) ? OP_BEFORE : 0) | (BIT(second, 9) ? OP_UP : 0) |
				       (BIT(second, 8) ? OP_WRITEBACK : 0));
	} else {
		op->flags |= OP_REGISTER;
		op->m = (uint8_t)BITS(second, 0, 4);
		op->amount = (uint8_t)BITS(second, 4, 2);
	}
}

void thumb_plain_t32(struct insn *insn, struct arm_op *op, uint32_t first, uint32_t second)
{
	if (first >> 11 == 0x1e && !BIT(second, 15))
		decode_numbers(insn, op, first, second);
	else if (first >> 9 == 0x75)
		thumb_plain_decode_registers(insn, op, first, second);
	else if (first >> 9 == 0x7c)
		decode_accesses(insn, op, first, second);
}
