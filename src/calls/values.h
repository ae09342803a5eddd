/* The numbers of a call, as a module's table says where they come from. */
#ifndef FT_CALLS_VALUES_H
#define FT_CALLS_VALUES_H

#include "calls/probes/probe_spec.h"
#include "ptrace/tracee.h"

/* What the values of a call are taken from. */
struct operands {
	struct process *p;
	const struct probe_spec *row;
	const uint64_t *args;
	uint64_t result; /* value_result()'s; 0 at the entry */
};

/* What a function has returned: of the register `raw`, the bits that its result's type has. */
uint64_t value_result(const struct process *p, const struct function *f, uint64_t raw);
/* A number of the call. False: there is none, or it cannot be read. */
bool value_read(const struct operands *of, const struct value *value, uint64_t *to);
/* The same; 0: it cannot be read. */
uint64_t value_of(const struct operands *of, const struct value *value);
/* Takes an id of the row's kind from the call; of a block of memory, without a tag. False: there is none (NULL), or it
 * cannot be read. */
bool value_id(const struct operands *of, const struct value *value, uint64_t *id);
/* Whether a function has done what it is there for, by what value_result() says. */
bool value_is_success(const struct process *p, const struct function *f, uint64_t result);
/* Whether the call is one of the row, by its conditions. At the entry. */
bool value_conditions_hold(const struct operands *of);
/* Whether one condition holds, TEST_NONE always. */
bool value_condition_holds(const struct operands *of, const struct condition *condition);

#endif
