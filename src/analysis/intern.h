/* Stores each distinct string and each distinct stack once. */
#ifndef FT_ANALYSIS_INTERN_H
#define FT_ANALYSIS_INTERN_H

#include "analysis/object_map.h"
#include "base/hash.h"
#include "trace/event.h"

struct intern_pool {
	struct hash by_hash; /* hash -> chain of struct interned_string with this hash */
};

/* Returns the pool's copy of a string, the same pointer for equal strings. Returns NULL for NULL. */
const char *string_intern(struct intern_pool *pool, const char *text);
void intern_pool_free(struct intern_pool *pool);

struct stack {
	struct stack *chain;
	uint64_t epoch; /* epoch of the object map at which `objects` was last compared with it */
	uint32_t count;
	enum stack_end end;
	void *user; /* for the pool's user; NULL at first */
	/* the object of each frame, or NULL if unknown; the array is NULL without an object map */
	struct mapped_object **objects;
	const char **texts; /* the text of each frame, as in struct record_call; NULL if there are none */
	uint64_t frames[];
};

struct stack_pool {
	struct hash by_hash; /* hash -> chain of struct stack with this hash */
	uint64_t seed;
	size_t count;
	/* If not NULL, stacks are equal only if the objects at their addresses are equal, too. */
	const struct object_map *objects;
	struct intern_pool texts;
};

/* Returns the pool's copy of a call's stack. Two stacks have the same copy if their frames, texts and ends are equal
 * and, if the pool has an object map, also their objects. */
struct stack *stack_intern(struct stack_pool *pool, const struct record_call *call);
void stack_pool_free(struct stack_pool *pool);

/* Sets the members of a call record that describe its stack. They point into `stack`. */
void stack_to_call(const struct stack *stack, struct record_call *call);

/* Maps and declares the objects of the stack's frames again, if other objects are mapped at their addresses now. map:
 * the pool's object map. Return value as stage_put(). */
int stack_put_objects(const struct stack *stack, struct object_map *map, struct stage *next);

#endif
