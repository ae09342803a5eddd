/* A growable byte buffer. */
#ifndef FT_BASE_BUF_H
#define FT_BASE_BUF_H

#include "base/util.h"
#include <stdio.h>
#include <string.h>

struct buf {
	unsigned char *data;
	size_t size, capacity;
};

void buf_free(struct buf *b);

/* Makes room for `more` bytes after the content, and returns the address of that room. Does not change b->size: the
 * caller adds the number of bytes that it has written there. */
unsigned char *buf_room_slow(struct buf *b, size_t more);

static inline unsigned char *buf_room(struct buf *b, size_t more)
{
	if (__builtin_expect(b->capacity - b->size < more, 0))
		return buf_room_slow(b, more);
	return b->data + b->size;
}

static inline void buf_add(struct buf *b, const void *bytes, size_t size)
{
	if (size)
		memcpy(buf_room(b, size), bytes, size);
	b->size += size;
}

static inline void buf_add_str(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

static inline void buf_add_char(struct buf *b, char c)
{
	*buf_room(b, 1) = (unsigned char)c;
	b->size++;
}

/* Appends formatted text, without its NUL. */
void buf_printf(struct buf *b, const char *fmt, ...) FT_PRINTF(2, 3);

/* Writes the content to a stream. After an error, ferror() of the stream is true. */
void buf_write(const struct buf *b, FILE *out);

/* Returns the content as a C string, which is valid until the next change. */
const char *buf_str(struct buf *b);

#endif
