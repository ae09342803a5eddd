/* Recognises a function's landing pad and musl's __errno_location, for the ABIs of x86. */
#include "config.h"
#include "arch/abi_rules.h"

#define RET   0xc3
#define REX_W 0x48

/* Decodes an instruction that adds a constant to (e/r)ax: add, or lea with this register as base and result. Returns
 * its length, and sets *constant; returns 0 for other code. */
static size_t add_constant(const unsigned char *code, size_t size, int64_t *constant)
{
	int32_t wide;

	if (size >= 3 && ((code[0] == 0x83 && code[1] == 0xc0) || (code[0] == 0x8d && code[1] == 0x40))) {
		*constant = (int8_t)code[2];
		return 3;
	}
	if (size >= 5 && code[0] == 0x05) {
		memcpy(&wide, code + 1, sizeof(wide));
		*constant = wide;
		return 5;
	}
	return 0;
}

size_t x86_landing_pad(const unsigned char *code, size_t size, bool wide)
{
	const unsigned char endbr[] = {0xf3, 0x0f, 0x1e, wide ? 0xfa : 0xfb};

	return size >= sizeof(endbr) && !memcmp(code, endbr, sizeof(endbr)) ? sizeof(endbr) : 0;
}

bool x86_thread_field(const unsigned char *code, size_t size, const unsigned char *load, size_t load_size, bool wide,
		      int64_t *offset)
{
	size_t at = x86_landing_pad(code, size, wide);

	if (size - at < load_size || memcmp(code + at, load, load_size) != 0)
		return false;
	at += load_size;
	if (wide && at < size && code[at] == REX_W)
		at++;
	const size_t length = add_constant(code + at, size - at, offset);

	return length && at + length < size && code[at + length] == RET;
}
