/* -a: makes texts of the arguments of traced calls. */
#ifndef FT_CALLS_ARGUMENTS_H
#define FT_CALLS_ARGUMENTS_H

#include "args/args.h"
#include "calls/calls.h"

/* The arguments of a call in flight. */
struct call_arguments {
	struct arg_list *list;
	struct args_kept kept;
};

/* Returns a new list of the arguments of a call, at its entry. The caller frees it by arg_list_unref(). Returns NULL if
 * no arguments are shown or the parameters of the probe's function are unknown. *kept gets the data for
 * args_at_return(); `kept` is NULL if the return is not traced. */
struct arg_list *arguments_entered(struct task *task, const struct probe *probe, const struct traced *traced,
				   struct args_kept *kept);
/* Sets call->shown, at the entry of a call whose return is traced. call_arguments_free() frees it. */
void arguments_begin(struct task *task, struct call *call);
/* Adds to call->shown the values that are known only at the return. failed: the call did not succeed. */
void arguments_returned(struct task *task, struct call *call, bool failed);
/* Returns the result of a call as a number. For a function of -x whose result type is known, the number is the part of
 * the register that the type fills, or 0 if the function returns nothing in this register. For other functions the
 * number is the register's value. */
uint64_t arguments_result(const struct task *task, const struct call *call, uint64_t result_register);
void call_arguments_free(struct call_arguments *arguments); /* NULL is allowed */
/* Returns a copy of a call's arguments for a fork's child, which inherits the parent's call in flight. */
struct call_arguments *call_arguments_copy(const struct call_arguments *arguments);

#endif
