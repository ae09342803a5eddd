/* Stacks that a format writes as text, by that text: most calls have a stack that an earlier one had. Private to
 * trace/. */
#ifndef FT_TRACE_STACK_CACHE_H
#define FT_TRACE_STACK_CACHE_H

#include "trace/event.h"

/* So many are remembered; a stack takes the place of another one with the same hash. Longer texts are not. */
enum { STACK_CACHE_SLOTS = 4096, STACK_CACHE_TEXT_MAX = 2048 };

struct cached_stack {
	uint64_t hash;
	char *text; /* NULL: none */
	size_t size;
	uint64_t *frames;
	uint32_t count;
	enum stack_end end;
};

/* Zero at first. */
struct stack_cache {
	struct cached_stack *slots; /* NULL before the first one is kept */
};

/* The stack of that text, until the next stack_cache_keep(); NULL: it is not remembered. */
const struct cached_stack *stack_cache_find(const struct stack_cache *cache, const char *text, size_t size);
/* Remembers what a text means: the call's frames and end; one with names is not remembered. */
void stack_cache_keep(struct stack_cache *cache, const char *text, size_t size, const struct record_call *call);
void stack_cache_free(struct stack_cache *cache);

#endif
