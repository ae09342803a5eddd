#include "config.h"
#include "calls/values.h"
#include "ptrace/memory.h"

/* The bits that a value of the type has. */
static uint64_t narrow(const struct process *p, unsigned type, uint64_t raw)
{
	switch (type) {
	case TYPE_INT:
		return (uint64_t)(int64_t)(int32_t)raw;
	case TYPE_UINT:
		return (uint32_t)raw;
	default:
		return p->arch->pointer_size < 8 ? (uint32_t)raw : raw;
	}
}

static uint64_t argument(const struct process *p, const struct value *value, unsigned n, const uint64_t *args)
{
	return narrow(p, value->type, args[n]);
}

static bool read_pointee(struct process *p, const struct value *value, const uint64_t *args, uint64_t *to)
{
	const uint64_t array = narrow(p, TYPE_WORD, args[value->a]);
	uint32_t number;

	if (value->type == TYPE_WORD)
		return memory_read_pointer(p, array + (uint64_t)value->b * p->arch->pointer_size, to) == 0;
	if (memory_read(p, array + value->b * sizeof(number), &number, sizeof(number)) < 0)
		return false;
	*to = narrow(p, value->type, number);
	return true;
}

static bool read_other(struct process *p, const struct value *value, const uint64_t *args, uint64_t *to)
{
	switch (value->kind) {
	case VALUE_ARG_TIMES:
		*to = mul_saturated(argument(p, value, value->a, args), argument(p, value, value->b, args));
		return true;
	case VALUE_POINTEE:
		return read_pointee(p, value, args, to);
	case VALUE_CONST:
		*to = value->a;
		return true;
	case VALUE_ARG_PAGES:
		*to = add_saturated(argument(p, value, value->a, args), page_size() - 1) & ~(page_size() - 1);
		return true;
	default:
		return false;
	}
}

static inline bool read_value(struct process *p, const struct value *value, const uint64_t *args, uint64_t result,
			      uint64_t *to)
{
	switch (value->kind) {
	case VALUE_ARG:
		*to = argument(p, value, value->a, args);
		return true;
	case VALUE_RESULT:
		*to = result;
		return true;
	default:
		return read_other(p, value, args, to);
	}
}

uint64_t value_result(const struct process *p, const struct function *f, uint64_t raw)
{
	return narrow(p, f->result, raw);
}

uint64_t value_of(struct process *p, const struct value *value, const uint64_t *args, uint64_t result)
{
	uint64_t number;

	return read_value(p, value, args, result, &number) ? number : 0;
}

bool value_id(struct process *p, const struct resource *kind, const struct value *value, const uint64_t *args,
	      uint64_t result, uint64_t *id)
{
	return read_value(p, value, args, result, id) && (*id || kind->zero_is_id);
}

bool value_is_success(const struct process *p, const struct function *f, uint64_t result)
{
	switch (f->success) {
	case OK_NONZERO:
		return result != 0;
	case OK_ZERO:
		return result == 0;
	case OK_NOT_MINUS_1:
		return result != narrow(p, f->result, UINT64_MAX);
	default:
		return true;
	}
}
