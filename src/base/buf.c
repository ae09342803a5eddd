/* Growable byte buffers: see buf.h. */
#include "config.h"
#include "base/buf.h"

#include <stdlib.h>

void buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf){0};
}

unsigned char *buf_room_slow(struct buf *b, size_t more)
{
	size_t wanted = b->capacity ? b->capacity : 256;

	while (wanted - b->size < more)
		wanted *= 2;
	b->data = xreallocarray(b->data, wanted, 1);
	b->capacity = wanted;
	return b->data + b->size;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	const int length = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (length <= 0)
		return;
	va_start(args, fmt);
	vsnprintf((char *)buf_room(b, (size_t)length + 1), (size_t)length + 1, fmt, args);
	va_end(args);
	b->size += (size_t)length;
}

void buf_write(const struct buf *b, FILE *out)
{
	/* An empty buffer may have no memory, and fwrite() takes no null pointer. */
	if (b->size)
		fwrite(b->data, 1, b->size, out);
}

const char *buf_str(struct buf *b)
{
	*buf_room(b, 1) = '\0';
	return (const char *)b->data;
}
