/* Acts on a hit at the return address of a traced function. */
#ifndef FT_CALLS_CALL_RETURN_H
#define FT_CALLS_CALL_RETURN_H

#include "calls/calls.h"

/* Completes each call that returns here. If there is none, counts a miss of the return site. */
void call_return(struct task *task, struct breakpoint *b);

/* A return that the kernel has recorded. */
struct recorded_return {
	uint64_t result;
	const uint64_t *pointee; /* the word to which the first argument points */
	uint64_t args[3];
	uint64_t return_sp, return_address;
	bool was_entered;           /* call_enter() was called for the entry */
	const struct traced *named; /* the function that the event shows; NULL: the called one */
};

/* Completes the recorded call of the function at `entry`. The task has the registers of the return. */
void call_returned(struct task *task, struct breakpoint *entry, const struct recorded_return *back);

#endif
