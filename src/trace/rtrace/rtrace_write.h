/* Builds packets of the rtrace format at the end of the writer's buffer: reserves room, then stores one member after
 * the other. Private to trace/. */
#ifndef FT_TRACE_RTRACE_RTRACE_WRITE_H
#define FT_TRACE_RTRACE_RTRACE_WRITE_H

#include "trace/rtrace/rtrace.h"
#include "trace/writer_state.h"

struct rtrace_state {
	bool compat;
	bool swap; /* the target's byte order is not the host's */
	bool wide; /* pointers have 8 bytes */
	bool reverse_types;
	uint32_t data_max;
	uint32_t resource_count, first_resource;
	uint64_t declared; /* bit N is set if resource N is declared */
};

static inline unsigned char *put_word(const struct rtrace_state *s, unsigned char *p, uint16_t value)
{
	if (s->swap)
		value = __builtin_bswap16(value);
	memcpy(p, &value, 2);
	return p + 2;
}

static inline unsigned char *put_dword(const struct rtrace_state *s, unsigned char *p, uint32_t value)
{
	if (s->swap)
		value = __builtin_bswap32(value);
	memcpy(p, &value, 4);
	return p + 4;
}

static inline unsigned char *put_pointer(struct writer *writer, unsigned char *p, uint64_t value)
{
	const struct rtrace_state *s = writer->state;

	if (!s->wide) {
		writer->lost_count += value > UINT32_MAX;
		return put_dword(s, p, (uint32_t)value);
	}
	if (s->swap)
		value = __builtin_bswap64(value);
	memcpy(p, &value, 8);
	return p + 8;
}

/* Writes the head of a packet. Its data are from head + RTRACE_HEAD to `end`. */
static inline unsigned char *put_head(const struct rtrace_state *s, unsigned char *head, uint32_t type,
				      unsigned char *end)
{
	if (s->reverse_types)
		type = __builtin_bswap32(type);
	for (unsigned i = 0; i < 4; i++)
		head[i] = (unsigned char)(type >> 8 * i);
	put_dword(s, head + 4, (uint32_t)(end - head) - RTRACE_HEAD);
	return end;
}

/* Puts a string. room: its maximum size in bytes, including the length field and the padding; a multiple of 4. A
 * longer text is cut, "..." replaces its end, and the cut is counted. length: length of `text`, which may be NULL. */
static inline unsigned char *put_string(struct writer *writer, unsigned char *p, const char *text, size_t length,
					size_t room)
{
	const struct rtrace_state *s = writer->state;
	const size_t max = room - 2 < RTRACE_TEXT_MAX ? room - 2 : RTRACE_TEXT_MAX;
	const bool cut = length > max;

	if (cut)
		length = max;
	const size_t whole = align_up(2 + length, 4);

	/* Clear the last word first, because the bytes after the text are padding. */
	memset(p + whole - 4, 0, 4);
	put_word(s, p, (uint16_t)(s->compat && text ? whole - 2 : length));
	if (length)
		memcpy(p + 2, text, length);
	if (cut) {
		const size_t mark = length < 3 ? length : 3;

		memcpy(p + 2 + length - mark, "...", mark);
		writer->cut_count++;
	}
	return p + whole;
}

static inline size_t text_length(const char *text)
{
	return text ? strlen(text) : 0;
}

/* Returns the largest number of bytes that a text of that length needs in the buffer. */
static inline size_t string_size(size_t length)
{
	return 2 + (length < RTRACE_TEXT_MAX ? length : RTRACE_TEXT_MAX) + 3;
}

/* Begins a packet with at most `size` bytes of data. Returns the address for the data. */
static inline unsigned char *packet_begin(struct writer *writer, size_t size)
{
	return buf_room(&writer->out, RTRACE_HEAD + size) + RTRACE_HEAD;
}

static inline void packet_end(struct writer *writer, uint32_t type, unsigned char *end)
{
	put_head(writer->state, writer->out.data + writer->out.size, type, end);
	writer->out.size = (size_t)(end - writer->out.data);
}

/* Returns true if the dialect can contain the resource. The sp-rtrace tools are limited to 32 resources. */
static inline bool resource_fits(const struct rtrace_state *s, uint32_t id)
{
	return !s->compat || id <= 32;
}

/* Puts the packets of a call: the microseconds of its time, the call itself, its frames, its arguments. */
void rtrace_put_call(struct writer *writer, const struct record_call *call);

#endif
