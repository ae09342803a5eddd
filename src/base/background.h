/* A piece of work that needs none of the caller's data, done by a thread of its own. */
#ifndef FT_BASE_BACKGROUND_H
#define FT_BASE_BACKGROUND_H

#include <stdbool.h>

struct background;

/* Begins work(context). Where no thread can be started it is done at once. What context points to is the work's until
 * background_end(). No signal is delivered to the thread. */
struct background *background_begin(void (*work)(void *context), void *context);
/* The same for work that no program is stopped for: its thread, and those that it starts, leave a processor to others,
 * to the programs that are traced above all. */
struct background *background_begin_gently(void (*work)(void *context), void *context);
bool background_is_done(const struct background *background);
/* Waits for the end of the work. */
void background_end(struct background *background);

#endif
