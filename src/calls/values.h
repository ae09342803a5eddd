/* The numbers of a call, as a module's table says where they come from. */
#ifndef FT_CALLS_VALUES_H
#define FT_CALLS_VALUES_H

#include "modules/module.h"
#include "ptrace/tracee.h"

/* What cannot be read is 0. `result` is only looked at for what comes from it. */
uint64_t value_of(struct process *p, const struct value *value, const uint64_t *args, uint64_t result);
/* Whether a function that has returned `result` has done what it is there for. */
static inline bool value_is_success(const struct function *f, uint64_t result, unsigned pointer_size)
{
	const uint64_t minus_1 = pointer_size == 8 ? UINT64_MAX : UINT32_MAX;

	switch (f->success) {
	case OK_NONZERO:
		return result != 0;
	case OK_ZERO:
		return (uint32_t)result == 0;
	case OK_NOT_MINUS_1:
		return result != minus_1 && (uint32_t)result != UINT32_MAX;
	default:
		return true;
	}
}

#endif
