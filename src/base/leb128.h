/* Unsigned LEB128: seven bits per byte, the least significant first; bit 7 means that more bytes follow. */
#ifndef FT_BASE_LEB128_H
#define FT_BASE_LEB128_H

#include <stdint.h>

/* The maximum number of bytes of a 64-bit number. */
#define LEB128_MAX 10

/* Writes the number in its shortest form, at most LEB128_MAX bytes. Returns the address after it. */
static inline unsigned char *leb128_put(unsigned char *p, uint64_t value)
{
	while (value >= 0x80) {
		*p++ = (unsigned char)(value | 0x80);
		value >>= 7;
	}
	*p++ = (unsigned char)value;
	return p;
}

#endif
