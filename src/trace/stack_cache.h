/* Stacks that a format has as text, in both directions: most calls have a stack that an earlier one had. Private to
 * trace/. */
#ifndef FT_TRACE_STACK_CACHE_H
#define FT_TRACE_STACK_CACHE_H

#include "base/buf.h"
#include "trace/event.h"

/* So many are remembered; a stack takes the place of another one with the same hash. Longer keys are not. */
enum { STACK_CACHE_SLOTS = 4096, STACK_CACHE_KEY_MAX = 2048 };

struct cached_stack {
	uint64_t hash;
	bool is_used;
	struct buf key, value;
	enum stack_end end;
};

/* Zero at first. What the keys and values are is its user's: the text and its frames for a reader, the frames and their
 * text for a writer. */
struct stack_cache {
	struct cached_stack *slots; /* NULL before the first one is looked for */
	uint64_t hash;              /* of the key that was looked for last */
	bool is_kept;               /* whether that has a size that is kept */
};

/* What was kept with that key, until the next stack_cache_keep(); NULL: it is not remembered. */
const struct cached_stack *stack_cache_find(struct stack_cache *cache, const void *key, size_t size);
/* Remembers the value of the key that was just looked for, and how the stack ends. */
void stack_cache_keep(struct stack_cache *cache, const void *key, size_t size, const void *value, size_t value_size,
		      enum stack_end end);
/* The place of the key that was just looked for, below STACK_CACHE_SLOTS; -1: it is none that is kept. */
int stack_cache_place(const struct stack_cache *cache);
void stack_cache_free(struct stack_cache *cache);

/* A value that is frames. */
static inline const uint64_t *stack_cache_frames(const struct cached_stack *stack, uint32_t *count)
{
	*count = (uint32_t)(stack->value.size / sizeof(uint64_t));
	return (const uint64_t *)(const void *)stack->value.data;
}

#endif
