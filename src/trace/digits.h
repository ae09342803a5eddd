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

#define HEX_PAIRS(d) d "0" d "1" d "2" d "3" d "4" d "5" d "6" d "7" d "8" d "9" d "a" d "b" d "c" d "d" d "e" d "f"

/* The two digits of each byte. */
static const char hex_pairs[] = HEX_PAIRS("0") HEX_PAIRS("1") HEX_PAIRS("2") HEX_PAIRS("3") HEX_PAIRS("4")
	HEX_PAIRS("5") HEX_PAIRS("6") HEX_PAIRS("7") HEX_PAIRS("8") HEX_PAIRS("9") HEX_PAIRS("a") HEX_PAIRS("b")
		HEX_PAIRS("c") HEX_PAIRS("d") HEX_PAIRS("e") HEX_PAIRS("f");

static inline char *put_hex(char *p, uint64_t value)
{
	unsigned shift = value ? (63u - (unsigned)__builtin_clzll(value)) & ~7u : 0;
	const unsigned first = (unsigned)(value >> shift);

	/* No zero comes first. */
	*p = hex_pairs[2 * first];
	p += first > 15;
	*p++ = hex_pairs[2 * first + 1];
	while (shift) {
		shift -= 8;
		memcpy(p, hex_pairs + 2 * (value >> shift & 0xff), 2);
		p += 2;
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
