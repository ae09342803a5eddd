/* Definitions of the rtrace binary format, for its writer and its reader. Private to trace/.
 *
 * The document BINARY_PROTOCOL defines the format. There are two dialects: 1.4, and "compat", which the sp-rtrace 2.0
 * tools read. functrace-formats(5) describes both. */
#ifndef FT_TRACE_RTRACE_RTRACE_H
#define FT_TRACE_RTRACE_RTRACE_H

#include "base/util.h"

#define RTRACE_MAGIC        0xf0
#define RTRACE_HEAD         8 /* size of a packet's head in bytes: type and size of the packet */
#define RTRACE_COMPAT_MAJOR 2

/* Maximum sizes, in bytes: of the data of a packet in dialect 1.4 and in compat, and of a text. Every reader has room
 * for them. The sp-rtrace tools have a buffer of 4098 bytes for a packet with its head, and sizes are multiples of
 * 4. */
#define RTRACE_DATA_MAX        65536
#define RTRACE_COMPAT_DATA_MAX 4088
#define RTRACE_TEXT_MAX        65531

/* A packet's type consists of four letters, the first in the lowest byte. */
#define RTRACE_TYPE(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

enum rtrace_type {
	RTRACE_PINF = RTRACE_TYPE('P', 'I', 'N', 'F'),
	RTRACE_MINF = RTRACE_TYPE('M', 'I', 'N', 'F'),
	RTRACE_RESR = RTRACE_TYPE('R', 'E', 'S', 'R'),
	RTRACE_MMAP = RTRACE_TYPE('M', 'M', 'A', 'P'),
	RTRACE_CTXR = RTRACE_TYPE('C', 'T', 'X', 'R'),
	RTRACE_CALL = RTRACE_TYPE('C', 'A', 'L', 'L'),
	RTRACE_BTRC = RTRACE_TYPE('B', 'T', 'R', 'C'),
	RTRACE_ARGS = RTRACE_TYPE('A', 'R', 'G', 'S'),
	RTRACE_HINF = RTRACE_TYPE('H', 'I', 'N', 'F'),
	RTRACE_FILE = RTRACE_TYPE('F', 'I', 'L', 'E'),
	RTRACE_OCFG = RTRACE_TYPE('O', 'C', 'F', 'G'),
	RTRACE_NLIB = RTRACE_TYPE('N', 'L', 'I', 'B'),
	/* packets that only functrace writes, in dialect 1.4 only */
	RTRACE_THRD = RTRACE_TYPE('T', 'H', 'R', 'D'),
	RTRACE_NOTE = RTRACE_TYPE('N', 'O', 'T', 'E'),
	RTRACE_SCAN = RTRACE_TYPE('S', 'C', 'A', 'N'),
	RTRACE_LOST = RTRACE_TYPE('L', 'O', 'S', 'T'),
	RTRACE_CENS = RTRACE_TYPE('C', 'E', 'N', 'S'),
	RTRACE_BLID = RTRACE_TYPE('B', 'L', 'I', 'D'),
	RTRACE_RESI = RTRACE_TYPE('R', 'E', 'S', 'I'),
	RTRACE_USEC = RTRACE_TYPE('U', 'S', 'E', 'C'),
	RTRACE_NTIM = RTRACE_TYPE('N', 'T', 'I', 'M'),
	RTRACE_ATCH = RTRACE_TYPE('A', 'T', 'C', 'H'),
};

/* Name of an argument that contains the size of a call if the size does not fit in a dword. */
#define RTRACE_SIZE_ARG  "#size"
#define RTRACE_SIZE_MORE 0xffffffffu

static inline bool host_is_big_endian(void)
{
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

#endif
