/* Numbers as digits, where a trace has millions of them and printf's time would be most of a writer's.  Private to
 * trace/. */
#ifndef FT_TRACE_DIGITS_H
#define FT_TRACE_DIGITS_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define NUMBER_ROOM 24 /* bytes that any of these may need */

/* Each writes at `p`, without a NUL, and returns where what is written ends. */
static inline char *put_decimal(char *p, uint64_t value)
{
	unsigned count = 1;

	for (uint64_t rest = value; rest >= 10; rest /= 10)
		count++;
	for (char *d = p + count; d > p; value /= 10)
		*--d = (char)('0' + value % 10);
	return p + count;
}

/* A text that the compiler knows. */
static inline char *put_literal(char *p, const char *text)
{
	const size_t length = strlen(text);

	memcpy(p, text, length);
	return p + length;
}

/* The eight hexadecimal digits of a number, as they lie in memory: each half byte becomes a byte, all at once. */
static inline uint64_t hex_digits(uint32_t value)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t x = (uint64_t)(value >> 16) << 32 | (value & 0xffff);

	x = (x << 8 & 0x00ff000000ff0000u) | (x & 0x000000ff000000ffu);
	x = (x << 4 & 0x0f000f000f000f00u) | (x & 0x000f000f000f000fu);
	/* 6 more make a carry of what has a letter. */
	return htobe64(x + ones * '0' + ((x + ones * 6) >> 4 & ones) * ('a' - '0' - 10));
}

/* Without zeros at first. Writes 16 bytes, of which those count that are before the end. */
static inline char *put_hex(char *p, uint64_t value)
{
	const unsigned count = value ? (67u - (unsigned)__builtin_clzll(value)) / 4 : 1;
	const uint64_t left = value << (64 - 4 * count);
	const uint64_t digits[] = {hex_digits((uint32_t)(left >> 32)), hex_digits((uint32_t)left)};

	memcpy(p, digits, sizeof(digits));
	return p + count;
}

static inline char *put_0x(char *p, uint64_t value)
{
	*p++ = '0';
	*p++ = 'x';
	return put_hex(p, value);
}

/* Takes hexadecimal digits, small letters, from `text` on: the first byte behind them. NULL: there are none, or more
 * than 16. */
static inline const char *take_hexadecimal(const char *text, uint64_t *value)
{
	static const unsigned char digits[256] = {
		['0'] = 1, ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
		['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
	};
	const char *p = text;
	uint64_t number = 0;

	for (unsigned digit; (digit = digits[(unsigned char)*p]); p++)
		number = number << 4 | (digit - 1);
	*value = number;
	return p > text && p - text <= 16 ? p : NULL;
}

#endif
