/* A cache of stacks for formats that write stacks as text, because most calls have the stack of an earlier call.
 * Private to trace/. */
#ifndef FT_TRACE_STACK_CACHE_H
#define FT_TRACE_STACK_CACHE_H

#include "base/buf.h"
#include "trace/event.h"

/* Number of slots, and maximum size of a key in bytes. A new stack replaces the old stack in the same slot. */
enum { STACK_CACHE_SLOTS = 4096, STACK_CACHE_KEY_MAX = 2048 };

struct cached_stack {
	uint64_t hash;
	bool is_used;
	struct buf key, value;
	enum stack_end end;
};

/* The struct must be zeroed before the first use. Readers use a stack's text as the key and its frames as the value;
 * writers use the frames as the key and their text (StackTrack: the number of a write cycle) as the value. */
struct stack_cache {
	struct cached_stack *slots; /* NULL before the first lookup */
	uint64_t hash;              /* hash of the key that was looked up last */
	bool is_kept;               /* the key that was looked up last is neither empty nor too long */
};

/* Returns the stack with that key, valid until the next stack_cache_keep(); NULL if it is not in the cache. */
const struct cached_stack *stack_cache_find(struct stack_cache *cache, const void *key, size_t size);
/* Stores a value, and how the stack ends, under a key, which must be the key that was looked up last. Stores nothing if
 * the key is empty or too long. */
void stack_cache_keep(struct stack_cache *cache, const void *key, size_t size, const void *value, size_t value_size,
		      enum stack_end end);
/* Returns the slot of the key that was looked up last, from 0 to STACK_CACHE_SLOTS - 1; -1 if the key is empty or too
 * long to be stored. */
int stack_cache_place(const struct stack_cache *cache);
void stack_cache_free(struct stack_cache *cache);

/* Returns the frames of a stack whose value consists of frames. */
static inline const uint64_t *stack_cache_frames(const struct cached_stack *stack, uint32_t *count)
{
	*count = (uint32_t)(stack->value.size / sizeof(uint64_t));
	return (const uint64_t *)(const void *)stack->value.data;
}

#endif
