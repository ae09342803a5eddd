/* Converts numbers to and from digits. A trace has millions of numbers, and printf would take most of a writer's time.
 * Private to trace/. */
#ifndef FT_TRACE_DIGITS_H
#define FT_TRACE_DIGITS_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define NUMBER_ROOM 24 /* the most bytes that any of these functions writes */

/* Each put_ function writes at `p`, without a NUL, and returns the end of what it wrote. */
static inline char *put_decimal(char *p, uint64_t value)
{
	unsigned count = 1;

	for (uint64_t rest = value; rest >= 10; rest /= 10)
		count++;
	for (char *d = p + count; d > p; value /= 10)
		*--d = (char)('0' + value % 10);
	return p + count;
}

/* Writes a literal, whose length the compiler knows. */
static inline char *put_literal(char *p, const char *text)
{
	const size_t length = strlen(text);

	memcpy(p, text, length);
	return p + length;
}

/* Returns the eight hexadecimal digits of a number, in the order of a text in memory. Turns all half bytes into bytes
 * at once. */
static inline uint64_t hex_digits(uint32_t value)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t x = (uint64_t)(value >> 16) << 32 | (value & 0xffff);

	x = (x << 8 & 0x00ff000000ff0000u) | (x & 0x000000ff000000ffu);
	x = (x << 4 & 0x0f000f000f000f00u) | (x & 0x000f000f000f000fu);
	/* Adding 6 makes a half byte carry if its digit is a letter. */
	return htobe64(x + ones * '0' + ((x + ones * 6) >> 4 & ones) * ('a' - '0' - 10));
}

/* Writes a number without leading zeros. Always writes 16 bytes, of which those before the returned end count. */
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

/* Parses hexadecimal digits with small letters. Returns the first byte after them; NULL if there are none, or more than
 * 16. */
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
