/* Converts stacks of addresses to stacks of frames with names. */
#ifndef FT_PROFILE_RESOLVE_H
#define FT_PROFILE_RESOLVE_H

#include "profile/profile.h"
#include "symbols/names/names.h"

/* Restores the object map for the first `frames` frames of a stack: if another object is mapped at a frame's address
 * now, adds the object that was mapped there when the stack was taken, also to `names` (NULL: none). Returns true if
 * the map has changed. Call it before these frames are named. */
bool account_map_stack(struct account *account, struct names *names, const struct stack *stack, uint32_t frames);

/* Names addresses of a process, and keeps the names until the process's object map changes. */
struct resolver {
	struct profile *profile;
	struct account *account;
	struct names *names; /* NULL: only names in the trace are used */
	/* hash of address and text -> 1 + index in `lines` of the address's first frame. The frames of the address end
	 * with the first frame that is not inlined. */
	struct hash known;
	const struct profile_frame **lines;
	size_t line_count, line_capacity;
	/* Frames of the stack that was named last. */
	const struct profile_frame **frames;
	size_t frame_count, frame_capacity;
};

/* Names all frames of a stack into resolver->frames, the innermost first. */
void resolve_stack(struct resolver *resolver, const struct stack *stack);
/* Drops the known names, because the mapped objects have changed. */
void resolver_forget(struct resolver *resolver);
/* Frees the memory that the resolver owns; the caller owns the struct. */
void resolver_free(struct resolver *resolver);

#endif
