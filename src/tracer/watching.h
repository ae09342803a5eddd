/* --watch: the processes run untraced, except in short windows. From the calls in these, and from looks at the heap, an
 * estimate is made of what stays (src/watch). All costs are counted, and the windows are so far apart that their sum
 * is within the budget:
 *
 *	window: breakpoints or probes are in place | untraced | look at the heap | untraced | window | ...
 *
 * Each period has one window, at a random time in it, because the program may do something once a second. */
#ifndef FT_TRACER_WATCHING_H
#define FT_TRACER_WATCHING_H

#include "tracer/process.h"

struct watcher;

/* Begins to watch the processes to which functrace has attached. Returns false after a message if the outputs cannot be
 * opened. */
bool watching_begin(struct tracer *t);
/* Does what is due. To be called at REQUEST_ALARM. Returns false if nothing is left to trace. */
bool watching_alarm(struct tracer *t);
/* Ends all windows, before functrace detaches. Later calls do nothing. */
void watching_stop(struct tracer *t);
/* Delivers the last results, and closes the outputs. */
void watching_end(struct tracer *t);

#endif
