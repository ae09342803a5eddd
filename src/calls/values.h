/* The numbers of a call, as a module's table says where they come from. */
#ifndef FT_CALLS_VALUES_H
#define FT_CALLS_VALUES_H

#include "modules/module.h"
#include "ptrace/tracee.h"

/* What a function has returned: of the register `raw`, the bits that its result's type has. */
uint64_t value_result(const struct process *p, const struct function *f, uint64_t raw);
/* A number of the call; 0: it cannot be read. `result` is value_result()'s, for the values that come from it. */
uint64_t value_of(struct process *p, const struct value *value, const uint64_t *args, uint64_t result);
/* Takes an id of that kind from the call. False: there is none (NULL), or it cannot be read. */
bool value_id(struct process *p, const struct resource *kind, const struct value *value, const uint64_t *args,
	      uint64_t result, uint64_t *id);
/* Whether a function has done what it is there for, by what value_result() says. */
bool value_is_success(const struct process *p, const struct function *f, uint64_t result);

#endif
