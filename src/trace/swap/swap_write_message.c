/* Writes the parts that SWAP messages have in common: heads, strings, and the fields of all MSG_PROBE_... messages. */
#include "config.h"
#include "trace/swap/swap_write.h"
#include "base/time_units.h"

void swap_put_string(struct writer *writer, const char *text, size_t max)
{
	const size_t length = text ? strlen(text) : 0;

	if (length < max) {
		buf_add(&writer->out, text, length);
	} else {
		buf_add(&writer->out, text, max - 4);
		buf_add_str(&writer->out, "...");
		writer->cut_count++;
	}
	buf_add_char(&writer->out, '\0');
}

size_t swap_begin(struct writer *writer, enum swap_id id, uint64_t ns)
{
	struct swap_writer *s = writer->state;
	const size_t head = writer->out.size;

	swap_put_dword(&writer->out, id);
	swap_put_dword(&writer->out, s->sequence++);
	swap_put_dword(&writer->out, (uint32_t)(ns / NS_PER_SECOND));
	swap_put_dword(&writer->out, (uint32_t)(ns % NS_PER_SECOND));
	swap_put_dword(&writer->out, 0);
	return head;
}

void swap_end(struct writer *writer, size_t head)
{
	swap_set_dword(&writer->out, head + 16, (uint32_t)(writer->out.size - head - SWAP_HEAD));
}

void swap_put_probe(struct writer *writer, uint32_t api)
{
	const struct swap_writer *s = writer->state;
	struct buf *out = &writer->out;

	swap_put_dword(out, api);
	swap_put_dword(out, s->pid);
	swap_put_dword(out, s->tid);
	swap_put_dword(out, 1);
	swap_put_byte(out, 's');
	swap_put_string(writer, SWAP_NAMES, sizeof(SWAP_NAMES));
	swap_put_byte(out, 'v');
	swap_put_long(out, 0);
	swap_put_dword(out, 0);
	swap_put_long(out, 0);
	swap_put_long(out, 0);
}

const struct swap_resource *swap_resource_of(const struct swap_writer *s, uint32_t id)
{
	if (!id && s->resource_count == 1)
		return &s->resources[0];
	for (size_t i = 0; i < s->resource_count; i++)
		if (s->resources[i].id == id)
			return &s->resources[i];
	return NULL;
}
