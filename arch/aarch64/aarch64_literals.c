/* Constants among the code of AArch64. Compilers put them behind a function where they are told to (-mcmodel=tiny and
 * large, -mpc-relative-literal-loads), so also behind a call that never returns, which is a function's last
 * instruction: what such a call has for its return address is a constant's. */
#include "config.h"
#include "arch/aarch64/aarch64.h"

#include <string.h>

#define WORDS 4096u /* on each side; a load reaches further, but few functions are as long */
#define PIECE 4096u /* bytes that are read at once: any page is a multiple of them */

/* The code around a place. What cannot be read is 0, which loads nothing. */
struct aarch64_literals_window {
	uint64_t start;
	unsigned char bytes[2 * WORDS * A64_INSN_SIZE];
	bool is_constant[2 * WORDS]; /* words of which it is known, so that none of them is taken for code */
};

/* What an instruction loads from a constant address; size 0: nothing. */
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

/* ldr of a literal, of any register; not prfm. */
static struct aarch64_literals_constant literal(uint32_t word, uint64_t address)
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

/* ldr of an unsigned offset from a base. Of the vectors, 128 bits have another size. */
static unsigned loaded_at(uint32_t word, unsigned base, uint64_t *offset)
{
	const bool is_vector = word & 0x04000000;
	const unsigned scale = is_vector && (word & 0x00800000) ? 4 : word >> 30;

	if ((word & 0x3b400000) != 0x39400000 || a64_bits(word, 5, 5) != base)
		return 0;
	*offset = (uint64_t)a64_bits(word, 10, 12) << scale;
	return 1u << scale;
}

#define NEAR 8 /* instructions from adrp to its load: compilers mix them with others */

/* adrp, and a load from that page. */
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
			literal(aarch64_literals_word_at(&window, i), window.start + i * A64_INSN_SIZE);

		if (!constant.size)
			constant = in_page(&window, i);
		if (address - constant.address < constant.size)
			return true;
		aarch64_literals_note_constant(&window, &constant);
	}
	return false;
}
