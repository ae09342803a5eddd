/* A line on the terminal about work that takes long: how far it is, and how long the rest of it will take. */
#ifndef FT_BASE_LONG_WORK_H
#define FT_BASE_LONG_WORK_H

#include "base/util.h"

struct buf;

/* One thing that is done: a file that is read, stacks that are named. */
struct long_work {
	uint64_t began_ns;
	bool shown; /* its line stands there, or a message has taken that away */
};

/* From now on work is shown once the program has run for two seconds, if stderr is a terminal, this program is in its
 * foreground, and messages are not off (-q). Without this call nothing is ever shown. */
void long_work_allow(void);

void long_work_begin(struct long_work *work);
/* Whether a line is due: the work's first one, or one whose predecessor is a fifth of a second old. Asks the clock, and
 * costs some nanoseconds. */
bool long_work_is_due(const struct long_work *work);
/* Shows `text`, and what is left, from `done` of `total` (0: unknown, nothing is said of it). */
void long_work_show(struct long_work *work, const char *text, uint64_t done, uint64_t total);
/* Takes the line away. */
void long_work_end(struct long_work *work);

/* Appends ", 12 s left": what the rest takes at the pace so far. Nothing where that is unknown. */
void long_work_add_left(struct buf *out, uint64_t elapsed_ns, uint64_t done, uint64_t total);

#endif
