/* Reading with a limit of time. A file may not answer (FUSE, NFS) or be huge, and the tracer's thread reads files while
 * a program waits for it. So it has a worker read them and waits for that no longer than a moment; what takes longer is
 * left to the worker, and the caller goes on without it. */
#ifndef FT_BASE_TIMED_H
#define FT_BASE_TIMED_H

#include <stdbool.h>

/* From now on the reads of this one thread have limits; others', and functrace-postproc's, have none. let_go: a
 * descriptor that is readable when nothing is to be waited for any longer than that; NULL none. */
void timed_begin(const int *let_go);
/* Whether anything waits for this thread: a program with breakpoints. Then all reads that do not answer take less than
 * a second together, else ten for each. */
void timed_hold(bool is_held);

/* Calls work(context), by the worker. True: it is done. False: it was not done in time, and context is no longer the
 * caller's: when the work is done, end(context) is called by the worker's thread. */
bool timed_do(void (*work)(void *context), void (*end)(void *context), void *context);

/* Calls look(context) about once a millisecond while timed_do() waits. NULL: nothing. */
void timed_watch(void (*look)(void *context), void *context);
/* Calls it now. */
void timed_look(void);

/* Why something could not be read that timed_do() was called for; compared by its address. */
extern const char timed_reason[];

#endif
