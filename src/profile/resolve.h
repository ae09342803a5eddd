/* Converts stacks of addresses to stacks of named frames. */
#ifndef FT_PROFILE_RESOLVE_H
#define FT_PROFILE_RESOLVE_H

#include "profile/profile.h"
#include "symbols/names/names.h"

/* Call it before the first `frames` frames of a stack are named: maps the objects again that were at their addresses
 * when the stack was taken, if others are there now. names: gets these objects, too; NULL: none. Returns whether
 * anything changed. */
bool account_map_stack(struct account *account, struct names *names, const struct stack *stack, uint32_t frames);

/* Names addresses of a process, and keeps their names until the object map of the process changes. */
struct resolver {
	struct profile *profile;
	struct account *account;
	struct names *names; /* NULL: only names in the trace */
	/* address and text -> 1 + index in `lines` of its first frame; the first one that is not inlined is its last */
	struct hash known;
	const struct profile_frame **lines;
	size_t line_count, line_capacity;
	/* The frames of the stack that was resolved last. */
	const struct profile_frame **frames;
	size_t frame_count, frame_capacity;
};

/* Names all frames of a stack, innermost first, into resolver->frames. */
void resolve_stack(struct resolver *resolver, const struct stack *stack);
/* Forgets the names, because other objects are mapped. */
void resolver_forget(struct resolver *resolver);
/* Frees what the resolver owns; the caller owns the struct. */
void resolver_free(struct resolver *resolver);

#endif
