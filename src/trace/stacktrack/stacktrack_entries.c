/* Writes the entries of a StackTrack trace, and the words of their texts. */
#include "config.h"
#include "trace/digits.h"
#include "trace/stacktrack/stacktrack_write.h"
#include "trace/escape.h"

/* Appends a text in INFO entries. For all entries except the last one, the size to copy is a constant, so memcpy()
 * compiles to a few moves. */
static void put_info(struct writer *writer, const char *text, size_t length)
{
	const struct stacktrack_writer *s = writer->state;
	const size_t size = (length + STACKTRACK_INFO - 1) / STACKTRACK_INFO * STACKTRACK_ENTRY;
	const struct stacktrack_out head = stacktrack_out_begin(s, STACKTRACK_IS_INFO),
				    last = stacktrack_out_begin(s, STACKTRACK_IS_INFO | STACKTRACK_INFO_END);
	unsigned char *p = buf_room(&writer->out, size);

	for (; length > STACKTRACK_INFO; length -= STACKTRACK_INFO) {
		stacktrack_store(&head, p);
		memcpy(p + STACKTRACK_PAYLOAD, text, STACKTRACK_INFO);
		p += STACKTRACK_ENTRY;
		text += STACKTRACK_INFO;
	}
	stacktrack_store(&last, p);
	memcpy(p + STACKTRACK_PAYLOAD, text, length);
	writer->out.size += size;
}

void stacktrack_put_entry(struct writer *writer, struct stacktrack_out *entry, const char *text, size_t length)
{
	if (length)
		stacktrack_put_number(entry, 0, STACKTRACK_HAS_INFO, 2);
	stacktrack_store(entry, buf_room(&writer->out, STACKTRACK_ENTRY));
	writer->out.size += STACKTRACK_ENTRY;
	if (length)
		put_info(writer, text, length);
}

void stacktrack_post_scope(struct writer *writer, uint32_t scope, unsigned style, const char *name)
{
	const struct stacktrack_writer *s = writer->state;
	struct stacktrack_out entry = stacktrack_out_begin(s, STACKTRACK_SLOC);

	stacktrack_put_member(&entry, 0, scope, 2);
	stacktrack_put_member(&entry, 2, style, 2);
	stacktrack_put_member(&entry, 6, s->cycle.number, 2);
	stacktrack_put_entry(writer, &entry, name, strlen(name));
}

void stacktrack_put_hit(struct writer *writer, uint32_t scope, uint64_t when)
{
	const struct stacktrack_writer *s = writer->state;
	struct stacktrack_out entry = stacktrack_out_begin(s, STACKTRACK_HIT);

	stacktrack_put_member(&entry, 0, when, 8);
	stacktrack_put_member(&entry, 8, scope, 2);
	stacktrack_put_member(&entry, 10, s->tid, 2);
	stacktrack_put_entry(writer, &entry, (const char *)s->text.data, s->text.size);
}

void stacktrack_put_value(struct writer *writer, enum stacktrack_value value)
{
	struct stacktrack_writer *s = writer->state;

	if (!s->posted[value])
		stacktrack_post_scope(writer, (uint32_t)value + 1, STACKTRACK_VALUE, stacktrack_value_names[value]);
	s->posted[value] = true;
	stacktrack_put_hit(writer, (uint32_t)value + 1, s->now);
}

struct buf *stacktrack_begin_record(struct writer *writer)
{
	struct stacktrack_writer *s = writer->state;

	if (!++s->sequence)
		s->sequence++;
	s->text.size = 0;
	return &s->text;
}

void stacktrack_add_word(struct buf *text, const char *key, const char *value)
{
	if (!value)
		return;
	if (text->size)
		buf_add_char(text, ' ');
	buf_add_str(text, key);
	buf_add_char(text, '=');
	text_put_escaped(text, value, " ");
}

void stacktrack_add_number(struct buf *text, const char *key, uint64_t value)
{
	char digits[NUMBER_ROOM];

	if (text->size)
		buf_add_char(text, ' ');
	buf_add_str(text, key);
	buf_add_char(text, '=');
	buf_add(text, digits, (size_t)(put_decimal(digits, value) - digits));
}

void stacktrack_add_address(struct buf *text, const char *before, uint64_t value)
{
	const size_t length = strlen(before);
	char *p = (char *)buf_room(text, length + NUMBER_ROOM);

	memcpy(p, before, length);
	text->size += (size_t)(put_0x(p + length, value) - p);
}
