/* Finds constants among the instructions of 32-bit ARM code. Compilers put constants after jumps and returns, where the
 * code does not continue. At the return address of a call that never returns (to __cxa_throw, abort) there may be a
 * constant, or a function in the other state. */
#include "config.h"
#include "arch/arm/arm_insn.h"

#define BITS(word, from, count) ((word) >> (from) & ((1u << (count)) - 1))
#define BIT(word, n)            ((word) >> (n)&1u)

#define REACH  4104u /* bytes from a load to its constant: 4095 from the load's pc, which is up to 8 bytes ahead */
#define WINDOW (2 * REACH)
#define PIECE  4096u /* bytes of one read; the size of a page is a multiple of this */

/* The code around an address. Bytes that cannot be read are set to 0, which encodes no load in either state. */
struct arm_literals_window {
	uint32_t start;
	unsigned char bytes[WINDOW + 4];
	bool is_constant[WINDOW / 2]; /* true for half words of constants */
};

/* The constant that an instruction loads relative to its pc. If size is 1, the instruction only computes `address`. If
 * size is 0, it neither loads a constant nor computes an address. */
struct arm_literals_constant {
	uint32_t address, size;
};

static struct arm_literals_constant constant_beside_pc(uint32_t pc, bool up, uint32_t offset, uint32_t size)
{
	return (struct arm_literals_constant){up ? pc + offset : pc - offset, size};
}

/* Returns the constant that a vldr loads. The fields of vldr are at the same bits in both states. */
static struct arm_literals_constant vector_constant(uint32_t pc, uint32_t word)
{
	const uint32_t size = BITS(word, 8, 4) == 9 ? 2 : BIT(word, 8) ? 8 : 4;

	return constant_beside_pc(pc, BIT(word, 23), BITS(word, 0, 8) * (size == 2 ? 2 : 4), size);
}

static bool arm_literals_is_vector(uint32_t word)
{
	return (word & 0x0f3f0000) == 0x0d1f0000 && (BITS(word, 9, 3) == 5 || BITS(word, 8, 4) == 9);
}

static struct arm_literals_constant a32_constant(uint32_t address, uint32_t word)
{
	const uint32_t pc = address + 8, turn = 2 * BITS(word, 8, 4), number = BITS(word, 0, 8);

	if (word >> 28 == 15)
		return (struct arm_literals_constant){0, 0};
	if ((word & 0x0f3f0000) == 0x051f0000) /* ldr, ldrb */
		return constant_beside_pc(pc, BIT(word, 23), BITS(word, 0, 12), 4);
	if (arm_literals_is_vector(word))
		return vector_constant(pc, word);
	if ((word & 0x0f6f0090) == 0x014f0090 && BITS(word, 5, 2)) /* ldrd, ldrh, ldrsb, ldrsh */
		return constant_beside_pc(pc, BIT(word, 23), BITS(word, 8, 4) << 4 | BITS(word, 0, 4), 8);
	if ((word & 0x0fff0000) == 0x028f0000 || (word & 0x0fff0000) == 0x024f0000) /* adr */
		return constant_beside_pc(pc, BIT(word, 23), turn ? number >> turn | number << (32 - turn) : number, 1);
	return (struct arm_literals_constant){0, 0};
}

static struct arm_literals_constant t32_constant(uint32_t pc, uint32_t word)
{
	const uint32_t offset = BIT(word, 26) << 11 | BITS(word, 12, 3) << 8 | BITS(word, 0, 8);

	if ((word & 0xfe1f0000) == 0xf81f0000 && BITS(word, 21, 2) != 3) /* ldr, ldrh, ldrb and their signed variants */
		return constant_beside_pc(pc, BIT(word, 23), BITS(word, 0, 12),
					  BITS(word, 21, 2) ? 1u << BITS(word, 21, 2) : 2);
	if ((word & 0xff7f0000) == 0xe95f0000) /* ldrd */
		return constant_beside_pc(pc, BIT(word, 23), BITS(word, 0, 8) * 4, 8);
	if (word >> 28 == 14 && arm_literals_is_vector(word))
		return vector_constant(pc, word);
	if ((word & 0xfbff8000) == 0xf20f0000 || (word & 0xfbff8000) == 0xf2af0000) /* adr */
		return constant_beside_pc(pc, !BIT(word, 23), offset, 1);
	return (struct arm_literals_constant){0, 0};
}

static bool is_long(uint32_t half)
{
	return half >> 11 >= 0x1d;
}

static struct arm_literals_constant thumb_constant(uint32_t address, uint32_t half, uint32_t second)
{
	const uint32_t pc = (address + 4) & ~3u;

	if (half >> 11 == 0x09 || half >> 11 == 0x14) /* ldr, adr */
		return constant_beside_pc(pc, true, BITS(half, 0, 8) * 4, half >> 11 == 0x09 ? 4 : 1);
	return is_long(half) ? t32_constant(pc, half << 16 | second) : (struct arm_literals_constant){0, 0};
}

static void arm_literals_read_window(struct arm_literals_window *window, const struct arch_memory *code)
{
	uint32_t size;

	for (uint32_t at = 0; at < WINDOW; at += size) {
		const uint32_t in_piece = PIECE - (window->start + at) % PIECE;

		size = in_piece < WINDOW - at ? in_piece : WINDOW - at;
		if (code->read(code->context, window->start + at, window->bytes + at, size))
			memset(window->bytes + at, 0, size);
	}
}

/* Marks the half words of a constant that are in the window. An address that is only computed is not marked, because
 * it may be that of code. */
static void arm_literals_note_constant(struct arm_literals_window *window, const struct arm_literals_constant *constant)
{
	for (uint32_t i = 0; constant->size > 1 && i < constant->size; i += 2) {
		const uint32_t offset = constant->address + i - window->start;

		if (offset < WINDOW)
			window->is_constant[offset / 2] = true;
	}
}

/* Returns true if an instruction in the window refers to a constant in the `size` bytes at `place`. The instructions
 * are decoded in one state, from the window's start on. */
static bool has_constant(struct arm_literals_window *window, uint32_t place, uint32_t size, bool thumb)
{
	uint32_t length;

	for (uint32_t at = 0; at < WINDOW; at += length) {
		const uint32_t half = arm_half_at(window->bytes + at), second = arm_half_at(window->bytes + at + 2);
		const uint32_t address = window->start + at;

		length = thumb ? 2 : 4;
		if (window->is_constant[at / 2])
			continue;
		const struct arm_literals_constant constant =
			thumb ? thumb_constant(address, half, second) : a32_constant(address, second << 16 | half);

		if (constant.size && constant.address - place + constant.size - 1 < size + constant.size - 1)
			return true;
		arm_literals_note_constant(window, &constant);
		/* Skips the second half of an instruction of four bytes. (If the first half is a constant that was
		 * not recognised, this skips an instruction.) */
		length = thumb && is_long(half) ? 4 : length;
	}
	return false;
}

static uint32_t condition_at(const struct arm_literals_window *window, uint32_t place)
{
	return arm_half_at(window->bytes + (place - window->start) + 2) >> 12;
}

#define WORDS_LOOKED_AT 4

/* Returns true if the code at `place` has the other state, because a function begins there, after a function that ends
 * with a call that never returns. In A32, code after a call that returns does not begin with a conditional instruction,
 * because calls do not preserve the flags. So a condition other than "always" means Thumb code. In Thumb, several
 * consecutive words with the condition "always" mean A32 code, because Thumb code hardly ever looks like this. */
static bool is_other_state(const struct arm_literals_window *window, uint32_t place, bool thumb)
{
	if (!thumb)
		return condition_at(window, place) < ARM_ALWAYS;
	for (uint32_t i = 0; i < WORDS_LOOKED_AT; i++)
		if (condition_at(window, place + 4 * i) != ARM_ALWAYS)
			return false;
	return true;
}

bool arm_is_constant(uint64_t address, const struct arch_memory *code)
{
	const bool thumb = address & 1;
	const uint32_t place = (uint32_t)address & ~1u;
	struct arm_literals_window window = {.start = place > REACH ? place - REACH : 0};

	/* Constants and functions begin at multiples of four. */
	if (place & 3)
		return false;
	arm_literals_read_window(&window, code);
	return has_constant(&window, place, thumb ? 2 : 4, thumb) || is_other_state(&window, place, thumb);
}
