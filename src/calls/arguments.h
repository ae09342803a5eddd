/* Arguments as text (-a): what a traced function's parameters are, and what they are in a call. */
#ifndef FT_CALLS_ARGUMENTS_H
#define FT_CALLS_ARGUMENTS_H

#include "args/args.h"
#include "calls/calls.h"

/* Of a call in flight. */
struct call_arguments {
	struct arg_list *list;
	struct args_kept kept;
};

/* The arguments of a call of the probe's function, as they are now, at its entry: a new list; NULL: none are shown, or
 * nothing is known of the parameters. kept: what arguments_returned() needs; NULL if it will not be called. */
struct arg_list *arguments_entered(struct task *task, const struct probe *probe, const struct traced *traced,
				   struct args_kept *kept);
/* A call begins whose return is waited for: call->shown, freed by call_arguments_free(). */
void arguments_begin(struct task *task, struct call *call);
/* It returns: what only now is known is added. failed: it has not done what it is there for. */
void arguments_returned(struct task *task, struct call *call, bool failed);
/* The result of a call of a function of -x as a number: the register's value as far as the function returns one there,
 * and 0 where it is known to return none. Of other functions, and of those of which nothing is known, the register's
 * value. */
uint64_t arguments_result(const struct task *task, const struct call *call, uint64_t result_register);
void call_arguments_free(struct call_arguments *arguments); /* NULL is allowed */
/* What a fork's child has of a call that its parent has begun. */
struct call_arguments *call_arguments_copy(const struct call_arguments *arguments);

#endif
