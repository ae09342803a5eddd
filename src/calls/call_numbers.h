/* Reads numbers from a call as a module's table describes. */
#ifndef FT_CALLS_CALL_NUMBERS_H
#define FT_CALLS_CALL_NUMBERS_H

#include "calls/probes/probe_spec.h"
#include "ptrace/tracee.h"

/* The call from which values are read. */
struct operands {
	struct process *p;
	const struct probe_spec *row;
	const uint64_t *args;
	uint64_t result; /* value_result() of the call; 0 at the entry */
	/* the word to which the first argument points, if it was read before: a kernel probe's. NULL: not read */
	const uint64_t *pointee;
};

/* Returns the result of a function: `raw`, the result register, reduced to the bits of the result's type. */
uint64_t value_result(const struct process *p, const struct function *f, uint64_t raw);
/* Reads the number that `value` describes. Returns false if it is VALUE_NONE, or if the number cannot be read. */
bool value_read(const struct operands *of, const struct value *value, uint64_t *to);
/* Does the same as value_read(), and returns the number; 0 if value_read() returns false. */
uint64_t value_of(const struct operands *of, const struct value *value);
/* Reads an id of the row's kind. The tag of a block's address is removed. Returns false if the id is 0, except for
 * kinds with zero_is_id, or if it cannot be read. */
bool value_id(const struct operands *of, const struct value *value, uint64_t *id);
/* Returns true if the function has succeeded; `result` is from value_result(). */
bool value_is_success(const struct process *p, const struct function *f, uint64_t result);
/* Returns true if the row's conditions hold for the call. Called at the entry. */
bool value_conditions_hold(const struct operands *of);
/* Returns true if the condition holds; TEST_NONE always holds. */
bool value_condition_holds(const struct operands *of, const struct condition *condition);

#endif
