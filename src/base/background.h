/* Runs work in a thread of its own. The work must use no data of the caller's thread except its context. */
#ifndef FT_BASE_BACKGROUND_H
#define FT_BASE_BACKGROUND_H

#include <stdbool.h>

struct background;

/* Begins work(context) in a thread to which no signal is delivered. If no thread can be started, does the work at
 * once. The work owns the data that context points to until background_end(). */
struct background *background_begin(void (*work)(void *context), void *context);
/* Does the same as background_begin() for work that no stopped program waits for. The work's thread, and the threads
 * that it starts, have a lower priority than other threads, in particular than those of the traced programs. */
struct background *background_begin_gently(void (*work)(void *context), void *context);
bool background_is_done(const struct background *background);
/* Returns true while any work that these functions began is in progress. */
bool background_is_any(void);
/* Waits until the work is done, and frees `background`. */
void background_end(struct background *background);

#endif
