/* Keeps each distinct string and each distinct stack once. */
#ifndef FT_ANALYSIS_INTERN_H
#define FT_ANALYSIS_INTERN_H

#include "analysis/object_map.h"
#include "base/hash.h"
#include "trace/event.h"

struct intern_pool {
	struct hash by_hash; /* -> struct interned_string, a chain of equal hashes */
};

/* Returns the pool's copy of a string: the same pointer for the same text, NULL for NULL. */
const char *string_intern(struct intern_pool *pool, const char *text);
void intern_pool_free(struct intern_pool *pool);

struct stack {
	struct stack *chain;
	uint64_t epoch; /* the object map's epoch when `objects` was last compared */
	uint32_t count;
	enum stack_end end;
	void *user;                     /* for the owner; NULL at first */
	struct mapped_object **objects; /* one for each frame, NULL if unknown; NULL without an object map */
	const char **texts;             /* one for each frame, as in struct record_call; NULL if there are none */
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

/* Returns the stack of a call: the same pointer for the same frames, texts and end (and objects). */
struct stack *stack_intern(struct stack_pool *pool, const struct record_call *call);
void stack_pool_free(struct stack_pool *pool);

/* Sets the stack's fields of a call record, which then point into the stack. */
void stack_to_call(const struct stack *stack, struct record_call *call);

/* Declares the objects of the stack's frames again, where `map` has something else at their addresses now. `map` is the
 * pool's object map. Returns as stage_put(). */
int stack_put_objects(const struct stack *stack, struct object_map *map, struct stage *next);

#endif
