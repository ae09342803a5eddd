/* Reads with a time limit. A read may block for ever (FUSE, NFS) or take long, and traced programs wait while the
 * tracer's thread reads. So a worker thread reads the file, and the tracer's thread waits only for a short time. If the
 * read takes longer, the worker finishes it alone, and the tracer's thread continues without the result. */
#ifndef FT_BASE_TIMED_H
#define FT_BASE_TIMED_H

#include <stdbool.h>

/* From now on the reads of the calling thread have time limits. Reads of other threads, and of functrace-postproc, have
 * no limits. let_go points to a descriptor, or is NULL. While this descriptor is readable, waits are as short as with
 * timed_hold(true). */
void timed_begin(const int *let_go);
/* Chooses the time limit of reads. With is_held, traced programs wait for this thread, and the waits for all late reads
 * together take less than a second. Without is_held, each read may take ten seconds. */
void timed_hold(bool is_held);

/* Calls work(context) in the worker; in the calling thread if its reads have no limits. Returns true if the work was
 * done in time. Otherwise the worker owns `context`, and calls end(context) after the work. If too many reads are late,
 * calls end(context) at once, without the work, and returns false. */
bool timed_do(void (*work)(void *context), void (*end)(void *context), void *context);

/* Makes timed_do() call look(context) about once per millisecond while it waits. NULL: no calls. */
void timed_watch(void (*look)(void *context), void *context);
/* Calls the function given to timed_watch() now. */
void timed_look(void);

/* The reason shown for a read that timed_do() did not finish. Compare its address, not its text. */
extern const char timed_reason[];

#endif
