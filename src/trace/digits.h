/* Numbers as digits, where a trace has millions of them and printf's time would be most of a writer's.  Private to
 * trace/. */
#ifndef FT_TRACE_DIGITS_H
#define FT_TRACE_DIGITS_H

#include <stdint.h>
#include <string.h>

#define NUMBER_ROOM 24 /* bytes that any of these may need */

/* Each writes at `p`, without a NUL, and returns where what is written ends. */
static inline char *put_decimal(char *p, uint64_t value)
{
	char digits[NUMBER_ROOM];
	char *d = digits + sizeof(digits);

	do
		*--d = (char)('0' + value % 10);
	while (value /= 10);
	const size_t length = (size_t)(digits + sizeof(digits) - d);

	memcpy(p, d, length);
	return p + length;
}

static inline char *put_hex(char *p, uint64_t value)
{
	unsigned shift = value ? (63u - (unsigned)__builtin_clzll(value)) & ~3u : 0;

	*p++ = "0123456789abcdef"[value >> shift & 15];
	while (shift) {
		shift -= 4;
		*p++ = "0123456789abcdef"[value >> shift & 15];
	}
	return p;
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
	static const signed char digits[256] = {
		['0'] = 1, ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
		['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
	};
	const char *p = text;
	uint64_t number = 0;

	for (int digit; (digit = digits[(unsigned char)*p]); p++)
		number = number << 4 | (uint64_t)(digit - 1);
	*value = number;
	return p > text && p - text <= 16 ? p : NULL;
}

#endif
