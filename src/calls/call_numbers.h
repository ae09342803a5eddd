/* Takes numbers from a call as a module's table describes. */
#ifndef FT_CALLS_CALL_NUMBERS_H
#define FT_CALLS_CALL_NUMBERS_H

#include "calls/probes/probe_spec.h"
#include "ptrace/tracee.h"

/* The call that values are taken from. */
struct operands {
	struct process *p;
	const struct probe_spec *row;
	const uint64_t *args;
	uint64_t result; /* from value_result(); 0 at the entry */
};

/* Returns the result of a function: the register `raw`, reduced to the bits of the result's type. */
uint64_t value_result(const struct process *p, const struct function *f, uint64_t raw);
/* Reads a number of the call. Returns false if there is none, or if it cannot be read. */
bool value_read(const struct operands *of, const struct value *value, uint64_t *to);
/* Does the same, and returns the number; 0 where value_read() returns false. */
uint64_t value_of(const struct operands *of, const struct value *value);
/* Reads an id of the row's kind. A block's address is without its tag. Returns false if there is none (NULL), or if it
 * cannot be read. */
bool value_id(const struct operands *of, const struct value *value, uint64_t *id);
/* Returns whether the function has succeeded, by its value_result(). */
bool value_is_success(const struct process *p, const struct function *f, uint64_t result);
/* Returns whether the row applies to the call, by its conditions. Called at the entry. */
bool value_conditions_hold(const struct operands *of);
/* Returns whether the condition holds; TEST_NONE always does. */
bool value_condition_holds(const struct operands *of, const struct condition *condition);

#endif
