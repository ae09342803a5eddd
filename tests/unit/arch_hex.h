/* Instructions written as hexadecimal bytes, as objdump shows them. */
#ifndef FT_TESTS_UNIT_ARCH_HEX_H
#define FT_TESTS_UNIT_ARCH_HEX_H

#include <stddef.h>
#include <stdlib.h>

/* Converts a text like "48 89 e5" to at most `max` bytes. Returns their number. */
static inline size_t hex_bytes(const char *text, unsigned char *bytes, size_t max)
{
	size_t count = 0;
	char *end;

	for (; count < max; text = end) {
		const unsigned long byte = strtoul(text, &end, 16);

		if (end == text)
			break;
		bytes[count++] = (unsigned char)byte;
	}
	return count;
}

#endif
