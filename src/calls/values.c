#include "config.h"
#include "calls/values.h"
#include "ptrace/memory.h"

uint64_t value_of(struct process *p, const struct value *value, const uint64_t *args, uint64_t result)
{
	uint64_t word = 0;

	switch (value->kind) {
	case VALUE_ARG:
		return args[value->a];
	case VALUE_RESULT:
		return result;
	case VALUE_ARG_TIMES:
		return mul_saturated(args[value->a], args[value->b]);
	case VALUE_POINTEE:
		memory_read_pointer(p, args[value->a], &word);
		return word;
	case VALUE_CONST:
		return value->a;
	case VALUE_ARG_PAGES:
		return add_saturated(args[value->a], page_size() - 1) & ~(page_size() - 1);
	default:
		return 0;
	}
}
