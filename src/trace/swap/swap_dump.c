/* Prints SWAP messages as text, each field with its name. */
#include "config.h"
#include "base/buf.h"
#include "trace/swap/swap_message.h"
#include "base/terminal_escape.h"

#include <inttypes.h>
#include <string.h>

#define HEX_COLUMNS 32

static void put_quoted(struct buf *out, const char *text)
{
	buf_add_char(out, '"');
	while (*text) {
		const size_t size = plain_size(text);

		if (!size || *text == '"' || *text == '\\')
			buf_printf(out, "\\%03o", (unsigned char)*text);
		else
			buf_add(out, text, size);
		text += size ? size : 1;
	}
	buf_add_char(out, '"');
}

static void swap_dump_put_arg(struct buf *out, const struct swap_arg *arg)
{
	buf_add_char(out, arg->type);
	if (arg->type == 'v' || arg->type == 'n')
		return;
	buf_add_char(out, ' ');
	if (arg->type == 's')
		put_quoted(out, arg->text);
	else
		swap_arg_text(out, arg);
}

static void put_indent(struct buf *out, unsigned depth)
{
	for (unsigned i = 0; i <= depth; i++)
		buf_add_str(out, "  ");
}

/* Appends bytes in hexadecimal, HEX_COLUMNS in each line. */
static void swap_dump_put_bytes(struct buf *out, unsigned depth, const unsigned char *data, uint64_t size)
{
	buf_printf(out, "%" PRIu64 " bytes", size);
	for (uint64_t i = 0; i < size; i++) {
		if (i % HEX_COLUMNS == 0) {
			buf_add_char(out, '\n');
			put_indent(out, depth + 1);
		} else {
			buf_add_char(out, ' ');
		}
		buf_printf(out, "%02x", data[i]);
	}
}

static void put_value(struct buf *out, const struct swap_value *value)
{
	switch (value->field->type) {
	case SWAP_I32:
		buf_printf(out, "%" PRId32, (int32_t)value->number);
		break;
	case SWAP_HEX32:
	case SWAP_ADDRESS:
		buf_printf(out, "0x%" PRIx64, value->number);
		break;
	case SWAP_TIME:
		buf_printf(out, "%" PRIu64 ".%09" PRIu32, value->number, value->nanoseconds);
		break;
	case SWAP_F32:
	case SWAP_F64:
		buf_printf(out, "%g", value->real);
		break;
	case SWAP_STRING:
		put_quoted(out, value->text);
		break;
	case SWAP_ARGUMENT:
		swap_dump_put_arg(out, &value->arg);
		break;
	case SWAP_BYTES:
	case SWAP_REST:
		swap_dump_put_bytes(out, 2 * value->depth, value->data, value->number);
		break;
	default:
		buf_printf(out, "%" PRIu64, value->number);
		break;
	}
}

static void swap_dump_put_line(void *context, const struct swap_value *value)
{
	struct buf *out = context;

	/* The number of a list's item is indented deeper than the list's name, but less than the item's fields. */
	put_indent(out, value->is_item || value->is_argument ? 2 * value->depth - 1 : 2 * value->depth);
	if (value->is_item) {
		buf_printf(out, "[%" PRIu32 "]\n", value->item);
		return;
	}
	if (value->is_argument) {
		swap_dump_put_arg(out, &value->arg);
	} else {
		buf_add_str(out, value->field->name);
		if (value->field->times)
			buf_printf(out, " %" PRIu32, value->item);
		buf_add_str(out, ": ");
		put_value(out, value);
	}
	buf_add_char(out, '\n');
}

static void swap_dump_put_head(struct buf *out, const struct reader *reader, const struct swap_message *message)
{
	buf_printf(out,
		   "%" PRIu64 ": %s (0x%04" PRIx32 "), sequence number %" PRIu32 ", time %" PRIu32 ".%09" PRIu32
		   ", length %" PRIu32 "\n",
		   reader_offset(reader), message->format ? message->format->name : "unknown", message->id,
		   message->sequence, message->seconds, message->nanoseconds, message->length);
}

int swap_dump(struct reader *reader, const struct dump_options *options, struct buf *out)
{
	struct swap_message message;
	size_t surplus = 0;
	const int status = swap_peek(reader, 0, &message);

	if (status != 1)
		return status;
	swap_dump_put_head(out, reader, &message);
	if (!message.format) {
		reader->skipped++;
		return swap_pass(reader, &message);
	}
	const char *bad = swap_walk(&message, options, swap_dump_put_line, out, &surplus);

	if (bad)
		return reader_damage(reader, 0,
				     "a message %s of %u bytes has no room for its %s, or that field is "
				     "invalid",
				     message.format->name, message.length, bad);
	if (surplus)
		buf_printf(out, "  %zu bytes more than its fields have\n", surplus);
	return swap_pass(reader, &message);
}
