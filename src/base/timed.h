/* Reading with a limit of time. A file may not answer (FUSE, NFS) or be huge, and programs wait while the tracer's
 * thread reads it. So a worker reads the file, and the thread waits only for a short time. If the read takes longer,
 * it is left to the worker, and the thread continues without the result. */
#ifndef FT_BASE_TIMED_H
#define FT_BASE_TIMED_H

#include <stdbool.h>

/* From now on the reads of this thread have limits; those of other threads and of functrace-postproc have none.
 * let_go: a descriptor that is readable when waits have to be as short as with timed_hold(true); or NULL. */
void timed_begin(const int *let_go);
/* is_held: programs with breakpoints wait for this thread. Then all reads that do not answer take less than a second
 * together, otherwise ten seconds each. */
void timed_hold(bool is_held);

/* Calls work(context) in the worker. Returns true if the work was done in time. Otherwise the worker owns context,
 * and its thread calls end(context) after the work. */
bool timed_do(void (*work)(void *context), void (*end)(void *context), void *context);

/* Makes timed_do() call look(context) about once per millisecond while it waits. NULL: no calls. */
void timed_watch(void (*look)(void *context), void *context);
/* Calls the function of timed_watch() now. */
void timed_look(void);

/* The reason for a read that timed_do() did not finish; compared by its address. */
extern const char timed_reason[];

#endif
