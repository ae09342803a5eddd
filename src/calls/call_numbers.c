#include "config.h"
#include "calls/call_numbers.h"
#include "record/ledger.h"
#include "ptrace/target_memory.h"

#include <string.h>

_Static_assert(MODULE_ARGS == CALL_ARGS, "a row can name what is read of a call");

#define STRING_MAX (64u << 20) /* number of bytes in which the end of a string is searched for */
#define HASHED_MAX 4096        /* longest name that is hashed, in bytes */

/* Reduces a register's value to the bits of the type, with its sign. */
static uint64_t narrow_to_type(const struct process *p, unsigned type, uint64_t raw)
{
	switch (type) {
	case TYPE_INT:
		return (uint64_t)(int64_t)(int32_t)raw;
	case TYPE_UINT:
		return (uint32_t)raw;
	case TYPE_INT8:
		return (uint64_t)(int64_t)(int8_t)raw;
	case TYPE_UINT8:
		return (uint8_t)raw;
	case TYPE_INT16:
		return (uint64_t)(int64_t)(int16_t)raw;
	case TYPE_UINT16:
		return (uint16_t)raw;
	default:
		return p->arch->pointer_size < 8 ? (uint32_t)raw : raw;
	}
}

static uint64_t value_argument(const struct operands *of, const struct value *value, unsigned n)
{
	return narrow_to_type(of->p, value->type, of->args[n]);
}

static bool read_pointee(const struct operands *of, const struct value *value, uint64_t *to)
{
	const uint64_t array = narrow_to_type(of->p, TYPE_WORD, of->args[value->a]);
	static const unsigned char sizes[] = {[TYPE_INT] = 4,   [TYPE_UINT] = 4,  [TYPE_INT8] = 1,
					      [TYPE_UINT8] = 1, [TYPE_INT16] = 2, [TYPE_UINT16] = 2};
	const size_t size = value->type < ARRAY_SIZE(sizes) ? sizes[value->type] : 0;
	union {
		uint8_t byte;
		uint16_t half;
		uint32_t whole;
	} number;

	/* A TYPE_WORD has the size of a pointer. */
	if (!size && of->pointee && !value->a && !value->b) {
		*to = *of->pointee;
		return true;
	}
	if (!size)
		return memory_read_pointer(of->p, array + (uint64_t)value->b * of->p->arch->pointer_size, to) == 0;
	if (memory_read(of->p, array + value->b * size, &number, size) < 0)
		return false;
	*to = narrow_to_type(of->p, value->type, size == 1 ? number.byte : size == 2 ? number.half : number.whole);
	return true;
}

/* ---- Strings ---- */

/* Returns the offset, in these bytes, of the string's terminating character; SIZE_MAX if there is none. The bytes begin
 * with a whole character. */
static size_t string_end(const unsigned char *bytes, size_t size, size_t width)
{
	static const unsigned char zero[4];

	for (size_t i = 0; i + width <= size; i += width)
		if (!memcmp(bytes + i, zero, width))
			return i;
	return SIZE_MAX;
}

/* Gets the size of a string with its terminating character, in bytes. width: size of a character, in bytes. Returns
 * false if the end cannot be read. */
static bool read_string_size(struct process *p, uint64_t address, size_t width, uint64_t *to)
{
	unsigned char bytes[4096];
	uint64_t size = 0;

	/* Each pass skips whole characters only. So the next pass reads a wide character that is on two pages again. */
	while (size < STRING_MAX) {
		const ssize_t count = memory_read_some(p, address + size, bytes, sizeof(bytes));

		if (count < (ssize_t)width)
			return false;
		const size_t whole = (size_t)count / width * width, end = string_end(bytes, whole, width);

		if (end != SIZE_MAX) {
			*to = size + end + width;
			return true;
		}
		size += whole;
	}
	return false;
}

/* Sets *to to a hash of the name at an address, reduced to 32 bits and never 0. Skips leading slashes, as shm_open()
 * does. Returns false if the name cannot be read or is too long. */
static bool read_name(struct process *p, uint64_t address, uint64_t *to)
{
	unsigned char bytes[HASHED_MAX];
	const ssize_t count = memory_read_some(p, address, bytes, sizeof(bytes));
	const size_t end = count > 0 ? string_end(bytes, (size_t)count, 1) : SIZE_MAX;
	size_t slashes = 0;

	if (end == SIZE_MAX)
		return false;
	while (bytes[slashes] == '/')
		slashes++;
	const uint64_t hash = hash_bytes(bytes + slashes, end - slashes);
	const uint32_t folded = (uint32_t)(hash ^ hash >> 32);

	*to = folded ? folded : 1;
	return true;
}

/* ---- Numbers ---- */

static bool read_other(const struct operands *of, const struct value *value, uint64_t *to)
{
	struct process *p = of->p;

	switch (value->kind) {
	case VALUE_ARG_TIMES:
		*to = mul_saturated(value_argument(of, value, value->a),
				    narrow_to_type(p, (unsigned)value->number, of->args[value->b]));
		return true;
	case VALUE_POINTEE:
		return read_pointee(of, value, to);
	case VALUE_CONST:
		*to = value->number;
		return true;
	case VALUE_ARG_PAGES:
		*to = add_saturated(value_argument(of, value, value->a), page_size() - 1) & ~(page_size() - 1);
		return true;
	case VALUE_ARG_SCALED:
		*to = mul_saturated(value_argument(of, value, value->a), value->number);
		return true;
	case VALUE_RESULT_SCALED:
		*to = mul_saturated(add_saturated(of->result, value->b), value->number);
		return true;
	case VALUE_STRING_SIZE:
	case VALUE_WIDE_SIZE:
		return read_string_size(p, value_argument(of, value, value->a), value->kind == VALUE_WIDE_SIZE ? 4 : 1,
					to);
	case VALUE_RESULT_STRING_SIZE:
	case VALUE_RESULT_WIDE_SIZE:
		return read_string_size(p, of->result, value->kind == VALUE_RESULT_WIDE_SIZE ? 4 : 1, to);
	case VALUE_NAME:
		return read_name(p, value_argument(of, value, value->a), to);
	case VALUE_LIVE_SIZE:
		*to = ledger_size(p->trace, probe_spec_sibling(of->row, value->b), value_argument(of, value, value->a));
		return true;
	case VALUE_KEPT:
		return ledger_kept(p->trace, probe_spec_sibling(of->row, value->b), value_argument(of, value, value->a),
				   to);
	default:
		return false;
	}
}

bool value_read(const struct operands *of, const struct value *value, uint64_t *to)
{
	switch (value->kind) {
	case VALUE_ARG:
		*to = value_argument(of, value, value->a);
		return true;
	case VALUE_RESULT:
		*to = of->result;
		return true;
	default:
		return read_other(of, value, to);
	}
}

uint64_t value_result(const struct process *p, const struct function *f, uint64_t raw)
{
	return narrow_to_type(p, f->result, raw);
}

uint64_t value_of(const struct operands *of, const struct value *value)
{
	uint64_t number;

	return value_read(of, value, &number) ? number : 0;
}

/* Reads an id. Removes the tag from a block's address, because each allocation at this address may get another tag. */
bool value_id(const struct operands *of, const struct value *value, uint64_t *id)
{
	if (!value_read(of, value, id))
		return false;
	if (of->p->arch->tags.bits && is_heap_type(of->row->kind->type))
		*id = arch_data_address(of->p->arch, *id);
	return *id || of->row->kind->zero_is_id;
}

bool value_is_success(const struct process *p, const struct function *f, uint64_t result)
{
	switch (f->success) {
	case OK_NONZERO:
		return result != 0;
	case OK_ZERO:
		return result == 0;
	case OK_NOT_MINUS_1:
		return result != narrow_to_type(p, f->result, UINT64_MAX);
	case OK_NOT_NEGATIVE:
		return f->result == TYPE_WORD && p->arch->pointer_size < 8 ? !(result >> 31) : !(result >> 63);
	default:
		return true;
	}
}

/* ---- Conditions ---- */

bool value_condition_holds(const struct operands *of, const struct condition *condition)
{
	if (condition->test == TEST_NONE)
		return true;
	const uint64_t value = value_of(of, &condition->value);
	const uint64_t other = value_of(of, &condition->other);
	const uint32_t resource = probe_spec_sibling(of->row, condition->resource);

	switch (condition->test) {
	case TEST_EQUALS:
		return value == other;
	case TEST_DIFFERS:
		return value != other;
	case TEST_AT_MOST:
		return value <= other;
	case TEST_HAS:
		return (value & other) == other;
	case TEST_LACKS:
		return (value & other) != other;
	case TEST_LIVE:
		return ledger_covers(of->p->trace, resource, value);
	case TEST_NOT_LIVE:
		return !ledger_covers(of->p->trace, resource, value);
	default:
		return false;
	}
}

bool value_conditions_hold(const struct operands *of)
{
	const struct condition *c = of->row->function->conditions, *const end = c + FUNCTION_CONDITIONS;

	for (; c < end && c->test != TEST_NONE; c++) {
		while (c->or_next && c + 1 < end && !value_condition_holds(of, c))
			c++;
		if (!value_condition_holds(of, c))
			return false;
		while (c->or_next && c + 1 < end)
			c++;
	}
	return true;
}
