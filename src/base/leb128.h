/* Unsigned LEB128: seven bits a byte, the least significant first; bit 7 says that more follow. */
#ifndef FT_BASE_LEB128_H
#define FT_BASE_LEB128_H

#include <stdint.h>

/* The most bytes that a number of 64 bits takes. */
#define LEB128_MAX 10

/* Writes the number in its shortest form, LEB128_MAX bytes at most; returns the end. */
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
