/* Each distinct string and each distinct stack is kept once. */
#ifndef FT_ANALYSIS_INTERN_H
#define FT_ANALYSIS_INTERN_H

#include "analysis/object_map.h"
#include "base/hash.h"
#include "trace/event.h"

struct intern_pool {
	struct hash by_hash; /* -> struct interned_string, a chain of equal hashes */
};

/* The pool's copy of a string; the same pointer for the same text. NULL gives NULL. */
const char *string_intern(struct intern_pool *pool, const char *text);
void intern_pool_free(struct intern_pool *pool);

struct stack {
	struct stack *chain;
	uint64_t epoch; /* of the object map at which `objects` was last compared */
	uint32_t count;
	enum stack_end end;
	void *user;                     /* the owner's own, NULL at first */
	struct mapped_object **objects; /* one a frame, NULL unknown; NULL without an object map */
	const char **texts;             /* one a frame, as in struct record_call; NULL none */
	uint64_t frames[];
};

struct stack_pool {
	struct hash by_hash; /* -> struct stack, a chain of equal hashes */
	uint64_t seed;
	size_t count;
	/* If set, the same addresses in different objects are different stacks. */
	const struct object_map *objects;
	struct intern_pool texts;
};

/* The stack of a call; the same pointer for the same frames, texts and end (and objects). */
struct stack *stack_intern(struct stack_pool *pool, const struct record_call *call);
void stack_pool_free(struct stack_pool *pool);

/* Sets the stack's fields of a call record, which then point into the stack. */
void stack_to_call(const struct stack *stack, struct record_call *call);

/* Declares again what was mapped at the stack's addresses, where something else is in `map` now,
 * which is the pool's object map. */
int stack_put_objects(const struct stack *stack, struct object_map *map, struct stage *next);

#endif
