/* Shows a line on the terminal during long work: its progress, and the time left. */
#ifndef FT_BASE_LONG_WORK_H
#define FT_BASE_LONG_WORK_H

#include "base/util.h"

struct buf;

/* One piece of work: reading a file, or naming stacks. */
struct long_work {
	uint64_t began_ns;
	bool shown; /* the line for this work was shown; a message may have erased it since */
};

/* From two seconds after this call on, progress is shown if stderr is a terminal, this program is in that terminal's
 * foreground, and -q was not given. Without this call no progress is ever shown. */
void long_work_allow(void);

void long_work_begin(struct long_work *work);
/* Returns true if the progress line is to be written now: for the first time in this work, or at least a fifth of a
 * second after the last time. Reads the clock, which costs some nanoseconds. */
bool long_work_is_due(const struct long_work *work);
/* Shows `text`, and the time left, computed from the amount of work done so far (`done`) and of all work (`total`). If
 * `total` is 0 (unknown), shows no time left. */
void long_work_show(struct long_work *work, const char *text, uint64_t done, uint64_t total);
/* Removes the line from the terminal. */
void long_work_end(struct long_work *work);

/* Appends ", 12 s left": the time that the remaining work takes at the average speed so far. Appends nothing if this
 * time is unknown. */
void long_work_add_left(struct buf *out, uint64_t elapsed_ns, uint64_t done, uint64_t total);

#endif
