/* Converts numbers to and from digits. A trace contains millions of numbers; with printf, a writer would spend most of
 * its time on their conversion. Private to trace/. */
#ifndef FT_TRACE_DIGITS_H
#define FT_TRACE_DIGITS_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define NUMBER_ROOM 24 /* maximum number of bytes that one of these functions writes */

/* Each put_ function writes to `p`, without a NUL, and returns the address after the last byte that it wrote. */
static inline char *put_decimal(char *p, uint64_t value)
{
	unsigned count = 1;

	for (uint64_t rest = value; rest >= 10; rest /= 10)
		count++;
	for (char *d = p + count; d > p; value /= 10)
		*--d = (char)('0' + value % 10);
	return p + count;
}

/* Writes a string literal; strlen() of it is a constant. */
static inline char *put_literal(char *p, const char *text)
{
	const size_t length = strlen(text);

	memcpy(p, text, length);
	return p + length;
}

/* Returns a number whose bytes in memory are the eight hexadecimal digits of `value` as text. Converts all half bytes
 * at once. */
static inline uint64_t hex_digits(uint32_t value)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t x = (uint64_t)(value >> 16) << 32 | (value & 0xffff);

	x = (x << 8 & 0x00ff000000ff0000u) | (x & 0x000000ff000000ffu);
	x = (x << 4 & 0x0f000f000f000f00u) | (x & 0x000f000f000f000fu);
	/* If a digit is a letter (its half byte is 10 or more), adding 6 carries into bit 4 of the byte. */
	return htobe64(x + ones * '0' + ((x + ones * 6) >> 4 & ones) * ('a' - '0' - 10));
}

/* Writes a number as hexadecimal digits, without leading zeros. Always stores 16 bytes at `p`; the bytes from the
 * returned address on have no meaning. */
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

/* Parses hexadecimal digits, with small letters only. Returns the address after the digits; NULL if there are no digits
 * or more than 16. */
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
