/* Remembers the stacks of a text format, for reading and for writing, because most calls have the stack of an earlier
 * call. Private to trace/. */
#ifndef FT_TRACE_STACK_CACHE_H
#define FT_TRACE_STACK_CACHE_H

#include "base/buf.h"
#include "trace/event.h"

/* The number of stacks that are remembered, and the longest key of one. A stack replaces another one with the same
 * place. */
enum { STACK_CACHE_SLOTS = 4096, STACK_CACHE_KEY_MAX = 2048 };

struct cached_stack {
	uint64_t hash;
	bool is_used;
	struct buf key, value;
	enum stack_end end;
};

/* Must be zero at first. The user chooses the keys and values: a reader takes the text and its frames, a writer the
 * frames and their text. */
struct stack_cache {
	struct cached_stack *slots; /* NULL before the first lookup */
	uint64_t hash;              /* of the key that was looked up last */
	bool is_kept;               /* that key has a size that can be kept */
};

/* Returns the stack with that key, until the next stack_cache_keep(); NULL if it is not remembered. */
const struct cached_stack *stack_cache_find(struct stack_cache *cache, const void *key, size_t size);
/* Remembers the value of the key that was just looked up, and how the stack ends. */
void stack_cache_keep(struct stack_cache *cache, const void *key, size_t size, const void *value, size_t value_size,
		      enum stack_end end);
/* Returns the place of the key that was just looked up, below STACK_CACHE_SLOTS; -1 if such a key is not kept. */
int stack_cache_place(const struct stack_cache *cache);
void stack_cache_free(struct stack_cache *cache);

/* Returns a value that consists of frames. */
static inline const uint64_t *stack_cache_frames(const struct cached_stack *stack, uint32_t *count)
{
	*count = (uint32_t)(stack->value.size / sizeof(uint64_t));
	return (const uint64_t *)(const void *)stack->value.data;
}

#endif
