/* Stacks of addresses become stacks of named frames. */
#ifndef FT_PROFILE_RESOLVE_H
#define FT_PROFILE_RESOLVE_H

#include "profile/profile.h"
#include "symbols/names/names.h"

/* Before the first `frames` frames of a stack are named: maps what was mapped at their addresses when the stack was
 * taken, where something else is mapped now. names: NULL none. Returns whether anything changed. */
bool account_map_stack(struct account *account, struct names *names, const struct stack *stack, uint32_t frames);

/* The names that addresses of a process had, while its object map stays as it is. */
struct resolver {
	struct profile *profile;
	struct account *account;
	struct names *names; /* NULL: what the trace says */
	struct hash
		/* address, with its text -> 1 + where its frames begin in `lines`; the last one is not inlined */
		known;
	const struct profile_frame **lines;
	size_t line_count, line_capacity;
	/* The stack that was resolved last. */
	const struct profile_frame **frames;
	size_t frame_count, frame_capacity;
};

/* Names all frames of a stack, innermost first, into resolver->frames. */
void resolve_stack(struct resolver *resolver, const struct stack *stack);
/* What is mapped has changed: addresses are named anew. */
void resolver_forget(struct resolver *resolver);
/* Frees what the resolver has; the struct is the caller's. */
void resolver_free(struct resolver *resolver);

#endif
