/* Parses SWAP messages with the table of their fields. */
#include "config.h"
#include "trace/swap/swap_message.h"
#include "base/time_units.h"

#include <stdio.h>
#include <string.h>

struct cursor {
	const unsigned char *p, *end;
	const struct dump_options *counts;
	swap_visit visit; /* NULL: only check that the payload has room for all fields */
	void *context;
	/* where numbers and arguments are stored; NULL if all values are passed to `visit` */
	struct swap_fields *fields;
	uint64_t kind;           /* the last value of SLOT_KIND */
	struct swap_value value; /* the current value; only the members for its type are set */
	const char *bad;
};

static bool swap_message_has_room(const struct cursor *c, size_t size)
{
	return (size_t)(c->end - c->p) >= size;
}

static struct swap_value *next_value(struct cursor *c, const struct swap_field *field, unsigned depth, uint32_t item)
{
	struct swap_value *value = &c->value;

	value->field = field;
	value->depth = depth;
	value->item = item;
	value->number = 0;
	value->is_argument = value->is_item = false;
	return value;
}

static void swap_message_give(const struct cursor *c)
{
	if (c->visit)
		c->visit(c->context, &c->value);
}

static bool swap_message_take_string(struct cursor *c, const char **text)
{
	const unsigned char *const nul = memchr(c->p, '\0', (size_t)(c->end - c->p));

	if (!nul)
		return false;
	*text = (const char *)c->p;
	c->p = nul + 1;
	return true;
}

/* arg_sizes[TYPE] is 1 plus the size, in bytes, of an argument of that type, without the contents of a string or array.
 * It is 0 if there is no such type. */
static const unsigned char arg_sizes[256] = {
	['v'] = 1, ['n'] = 1, ['s'] = 1, ['c'] = 2,  ['b'] = 2,  ['d'] = 5,  ['f'] = 5,
	['x'] = 9, ['p'] = 9, ['w'] = 9, ['D'] = 13, ['F'] = 13, ['W'] = 13,
};

static uint64_t number_at(const unsigned char *p, size_t size)
{
	return size == 8 ? swap_long(p) : size == 4 ? swap_dword(p) : *p;
}

static bool take_array(struct cursor *c, struct swap_arg *arg)
{
	const size_t item = arg->type == 'W' ? 8 : 4;

	arg->number = swap_long(c->p);
	arg->count = swap_dword(c->p + 8);
	arg->items = c->p + 12;
	if ((size_t)(c->end - arg->items) / item < arg->count)
		return false;
	c->p += 12 + arg->count * item;
	return true;
}

static bool take_arg(struct cursor *c, struct swap_arg *arg)
{
	if (!swap_message_has_room(c, 1))
		return false;
	*arg = (struct swap_arg){.type = (char)*c->p};
	const size_t known = arg_sizes[*c->p], size = known - 1;

	if (!known) {
		c->bad = "an argument of an unknown type";
		return false;
	}
	c->p++;
	if (!swap_message_has_room(c, size))
		return false;
	if (arg->type == 's')
		return swap_message_take_string(c, &arg->text);
	if (size == 12)
		return take_array(c, arg);
	if (size)
		arg->number = number_at(c->p, size);
	if (arg->type == 'f')
		arg->real = swap_float((uint32_t)arg->number);
	if (arg->type == 'w')
		arg->real = swap_double(arg->number);
	c->p += size;
	return true;
}

static bool swap_message_take_number(struct cursor *c, size_t size, struct swap_value *value)
{
	if (!swap_message_has_room(c, size))
		return false;
	value->number = number_at(c->p, size);
	c->p += size;
	return true;
}

static bool walk_fields(struct cursor *c, const struct swap_field *fields, unsigned depth);

static bool swap_message_take_list(struct cursor *c, const struct swap_field *field, unsigned depth, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		next_value(c, field, depth + 1, i)->is_item = true;
		swap_message_give(c);
		if (!walk_fields(c, field->items, depth + 1))
			return false;
	}
	return true;
}

static bool swap_message_take_args(struct cursor *c, const struct swap_field *field, unsigned depth, uint32_t count)
{
	struct swap_fields *const fields = c->fields;

	for (uint32_t i = 0; fields && i < count; i++) {
		ARRAY_GROW(fields->args, fields->arg_capacity, fields->arg_count);
		if (!take_arg(c, &fields->args[fields->arg_count]))
			return false;
		fields->arg_count++;
	}
	for (uint32_t i = 0; !fields && i < count; i++) {
		struct swap_value *value = next_value(c, field, depth + 1, i);

		value->is_argument = true;
		if (!take_arg(c, &value->arg))
			return false;
		swap_message_give(c);
	}
	return true;
}

/* Parses a value of a fixed size, a string or an argument. */
static bool swap_message_take_plain(struct cursor *c, struct swap_value *value)
{
	switch (value->field->type) {
	case SWAP_U8:
		return swap_message_take_number(c, 1, value);
	case SWAP_U64:
	case SWAP_ADDRESS:
		return swap_message_take_number(c, 8, value);
	case SWAP_TIME:
		if (!swap_message_take_number(c, 8, value))
			return false;
		value->nanoseconds = (uint32_t)(value->number >> 32);
		value->number &= UINT32_MAX;
		return true;
	case SWAP_F32:
		if (!swap_message_take_number(c, 4, value))
			return false;
		value->real = swap_float((uint32_t)value->number);
		return true;
	case SWAP_F64:
		if (!swap_message_take_number(c, 8, value))
			return false;
		value->real = swap_double(value->number);
		return true;
	case SWAP_STRING:
		return swap_message_take_string(c, &value->text);
	case SWAP_ARGUMENT:
		return take_arg(c, &value->arg);
	default:
		return swap_message_take_number(c, 4, value);
	}
}

static bool swap_message_take_field(struct cursor *c, const struct swap_field *field, unsigned depth, uint32_t index)
{
	struct swap_value *value = next_value(c, field, depth, index);

	if (field->type == SWAP_REST)
		value->number = (uint64_t)(c->end - c->p);
	else if (!swap_message_take_plain(c, value))
		return false;
	const uint64_t number = value->number;

	if (field->type == SWAP_REST || field->type == SWAP_BYTES) {
		if (!swap_message_has_room(c, number))
			return false;
		value->data = c->p;
		c->p += number;
	}
	if (field->slot == SLOT_KIND)
		c->kind = number;
	swap_message_give(c);
	if (field->type == SWAP_LIST)
		return swap_message_take_list(c, field, depth, (uint32_t)number);
	if (field->type == SWAP_ARGUMENTS)
		return swap_message_take_args(c, field, depth, (uint32_t)number);
	return true;
}

static bool swap_message_is_there(const struct cursor *c, const struct swap_field *field)
{
	return !field->from || (c->kind >= field->from && c->kind <= field->to);
}

/* Stores a number directly in its slot, without calling visit(). Returns false for fields that need visit(). Most
 * fields of most messages are such numbers. */
static bool swap_message_take_slot(struct cursor *c, const struct swap_field *field)
{
	const size_t size = field->plain;

	if (!size || !c->fields || !swap_message_has_room(c, size))
		return false;
	const uint64_t number = number_at(c->p, size);

	c->fields->numbers[field->slot] = number;
	if (field->slot == SLOT_KIND)
		c->kind = number;
	c->p += size;
	return true;
}

static bool walk_fields(struct cursor *c, const struct swap_field *fields, unsigned depth)
{
	for (const struct swap_field *field = fields; field->type; field++) {
		if (swap_message_take_slot(c, field))
			continue;
		const uint32_t times = field->times == SWAP_ONCE   ? 1
				       : !c->counts                ? 0
				       : field->times == SWAP_CPUS ? c->counts->cpus
								   : c->counts->devices;

		for (uint32_t i = 0; i < times && swap_message_is_there(c, field); i++)
			if (!swap_message_take_field(c, field, depth, i)) {
				if (!c->bad)
					c->bad = field->name;
				return false;
			}
	}
	return true;
}

static struct cursor cursor_of(const struct swap_message *message, const struct dump_options *counts)
{
	return (struct cursor){.p = message->payload, .end = message->payload + message->length, .counts = counts};
}

static void check_size(void *context, const struct swap_value *value)
{
	bool *const is_sound = context;

	if (value->field->slot == SLOT_ITEM_HIGH && value->number > SWAP_FILE_SIZE_MAX)
		*is_sound = false;
}

/* Returns true if the payload has the second layout of its format: it fits the second layout exactly, but not the first
 * layout. */
static bool is_other(const struct swap_message *message)
{
	bool is_sound = true;

	if (!message->format->other)
		return false;
	struct cursor c = cursor_of(message, NULL);

	c.visit = check_size;
	c.context = &is_sound;
	if (walk_fields(&c, message->format->fields, 0) && c.p == c.end && is_sound)
		return false;
	c = cursor_of(message, NULL);
	return walk_fields(&c, message->format->other, 0) && c.p == c.end;
}

static const char *swap_message_walk(const struct swap_message *message, const struct dump_options *counts,
				     swap_visit visit, void *context, struct swap_fields *slots, size_t *surplus)
{
	const bool has_counts = counts && counts->cpus && message->id == SWAP_SYSTEM;
	const struct swap_field *const fields = has_counts          ? swap_system_fields
						: is_other(message) ? message->format->other
								    : message->format->fields;
	struct cursor c = cursor_of(message, counts);

	c.visit = visit;
	c.context = context;
	c.fields = slots;
	if (!walk_fields(&c, fields, 0))
		return c.bad;
	*surplus = (size_t)(c.end - c.p);
	return NULL;
}

const char *swap_walk(const struct swap_message *message, const struct dump_options *counts, swap_visit visit,
		      void *context, size_t *surplus)
{
	return swap_message_walk(message, counts, visit, context, NULL, surplus);
}

const char *swap_take_fields(const struct swap_message *message, swap_visit visit, struct swap_fields *fields)
{
	return swap_message_walk(message, NULL, visit, fields, fields, &(size_t){0});
}

/* ---- Messages in the input ---- */

static struct swap_message swap_head(const unsigned char *head)
{
	const uint32_t id = swap_dword(head);

	return (struct swap_message){.id = id,
				     .sequence = swap_dword(head + 4),
				     .seconds = swap_dword(head + 8),
				     .nanoseconds = swap_dword(head + 12),
				     .length = swap_dword(head + 16),
				     .format = swap_format_of(id)};
}

bool swap_is_head(const unsigned char *head)
{
	const struct swap_message message = swap_head(head);

	return message.format && message.nanoseconds < NS_PER_SECOND && message.length &&
	       message.length <= SWAP_READ_MAX;
}

static int cut_off(struct reader *reader, const struct swap_message *message)
{
	char within[64] = "a message";

	if (message)
		snprintf(within, sizeof(within), "a message %s", message->format->name);
	return reader_cut_off(reader, within);
}

int swap_peek(struct reader *reader, size_t ahead, struct swap_message *message)
{
	const size_t available = reader_fill(reader, ahead + SWAP_HEAD);

	if (available < ahead + SWAP_HEAD && (!reader->ended || ahead))
		return 0;
	if (!available)
		return reader_end(reader);
	if (available < SWAP_HEAD)
		return cut_off(reader, NULL);
	*message = swap_head(reader->data + reader->start + ahead);
	if (!message->id || message->id > UINT16_MAX || message->nanoseconds >= NS_PER_SECOND)
		return ahead ? 0
			     : reader_damage(reader, 0, "no SWAP message has the id 0x%x and %u nanoseconds, as here",
					     message->id, message->nanoseconds);
	if (!message->format)
		return 1;
	if (message->length > SWAP_READ_MAX)
		return ahead ? 0
			     : reader_damage(reader, 0,
					     "a message %s says that it has %u bytes, which no such "
					     "message has",
					     message->format->name, message->length);
	const size_t whole = ahead + SWAP_HEAD + message->length;

	if (reader_fill(reader, whole) < whole)
		return ahead || !reader->ended ? 0 : cut_off(reader, message);
	message->payload = reader->data + reader->start + ahead + SWAP_HEAD;
	return 1;
}

int swap_pass(struct reader *reader, const struct swap_message *message)
{
	if (reader_skip(reader, SWAP_HEAD + (uint64_t)message->length))
		return 1;
	if (reader->input_status < 0 || reader->interrupted)
		return reader_end(reader);
	return reader_damage(reader, 0, "the trace ends here, within a message of %u bytes", message->length);
}
