/* Finds constants among the instructions of AArch64 code. Compilers put constants after a function if certain options
 * are set (-mcmodel=tiny and large, -mpc-relative-literal-loads). If a function ends with a call that never returns,
 * there may be a constant at the call's return address. */
#include "config.h"
#include "arch/aarch64/aarch64.h"

#include <string.h>

#define WORDS 4096u /* words on each side; a load reaches further, but few functions are longer */
#define PIECE 4096u /* bytes of one read; the size of a page is a multiple of this */

/* The code around an address. Bytes that cannot be read are set to 0; the word 0 is no load instruction. */
struct aarch64_literals_window {
	uint64_t start;
	unsigned char bytes[2 * WORDS * A64_INSN_SIZE];
	bool is_constant[2 * WORDS]; /* true for words that are constants, so that they are not decoded as code */
};

/* The address of the constant that an instruction loads; size 0: the instruction does not load a constant. */
struct aarch64_literals_constant {
	uint64_t address;
	unsigned size;
};

static void aarch64_literals_read_window(struct aarch64_literals_window *window, const struct arch_memory *code)
{
	size_t size;

	for (size_t at = 0; at < sizeof(window->bytes); at += size) {
		const size_t in_piece = PIECE - (window->start + at) % PIECE, left = sizeof(window->bytes) - at;

		size = in_piece < left ? in_piece : left;
		if (code->read(code->context, window->start + at, window->bytes + at, size))
			memset(window->bytes + at, 0, size);
	}
}

static uint32_t aarch64_literals_word_at(const struct aarch64_literals_window *window, size_t i)
{
	return a64_get(window->bytes + i * A64_INSN_SIZE);
}

/* Decodes ldr of a literal to any register. prfm has a similar encoding, and is not decoded. */
static struct aarch64_literals_constant decode_literal_load(uint32_t word, uint64_t address)
{
	const bool is_vector = word & 0x04000000;
	const unsigned size = word >> 30;

	if ((word & 0x3b000000) != 0x18000000 || size == 3)
		return (struct aarch64_literals_constant){0, 0};
	return (struct aarch64_literals_constant){address + ((uint64_t)a64_signed(word, 5, 19) << 2),
						  is_vector   ? 4u << size
						  : size == 1 ? 8
							      : 4};
}

/* Decodes ldr with an unsigned offset from register `base`. Returns the size in bytes, or 0 for other instructions.
 * Vectors of 128 bits encode their size in another field. */
static unsigned loaded_at(uint32_t word, unsigned base, uint64_t *offset)
{
	const bool is_vector = word & 0x04000000;
	const unsigned scale = is_vector && (word & 0x00800000) ? 4 : word >> 30;

	if ((word & 0x3b400000) != 0x39400000 || a64_bits(word, 5, 5) != base)
		return 0;
	*offset = (uint64_t)a64_bits(word, 10, 12) << scale;
	return 1u << scale;
}

#define NEAR 8 /* maximum number of instructions from adrp to its load; compilers put others between them */

/* Decodes adrp and a load from the page whose address it computes. */
static struct aarch64_literals_constant in_page(const struct aarch64_literals_window *window, size_t i)
{
	const uint32_t word = aarch64_literals_word_at(window, i);
	uint64_t offset;

	if ((word & 0x9f000000) != 0x90000000)
		return (struct aarch64_literals_constant){0, 0};
	for (size_t n = i + 1; n <= i + NEAR && n < 2 * WORDS; n++) {
		const unsigned size = loaded_at(aarch64_literals_word_at(window, n), a64_bits(word, 0, 5), &offset);

		if (size)
			return (struct aarch64_literals_constant){
				a64_adr_value(word, window->start + i * A64_INSN_SIZE) + offset, size};
	}
	return (struct aarch64_literals_constant){0, 0};
}

static void aarch64_literals_note_constant(struct aarch64_literals_window *window,
					   const struct aarch64_literals_constant *constant)
{
	for (unsigned n = 0; n < constant->size; n += A64_INSN_SIZE) {
		const uint64_t i = (constant->address + n - window->start) / A64_INSN_SIZE;

		if (i < 2 * WORDS)
			window->is_constant[i] = true;
	}
}

bool a64_is_constant(uint64_t address, const struct arch_memory *code)
{
	const uint64_t reach = (uint64_t)WORDS * A64_INSN_SIZE;
	struct aarch64_literals_window window = {.start = address > reach ? address - reach : 0};

	aarch64_literals_read_window(&window, code);
	for (size_t i = 0; i < 2 * WORDS; i++) {
		if (window.is_constant[i])
			continue;
		struct aarch64_literals_constant constant =
			decode_literal_load(aarch64_literals_word_at(&window, i), window.start + i * A64_INSN_SIZE);

		if (!constant.size)
			constant = in_page(&window, i);
		if (address - constant.address < constant.size)
			return true;
		aarch64_literals_note_constant(&window, &constant);
	}
	return false;
}
