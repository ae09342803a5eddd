/* Work on ranges of memory, by as many threads as there are processors for this one.
 *
 * The threads exist only while workers_share() runs. They get a range of numbers and nothing else: all that is known of
 * processes belongs to the thread that asks. */
#ifndef FT_SCAN_CAPTURE_COPY_WORKERS_H
#define FT_SCAN_CAPTURE_COPY_WORKERS_H

#include <stdint.h>

/* Of fewer ranges a single thread takes less time than others take to begin. */
#define WORKERS_LEAST 4

/* Calls back for ranges of `piece` numbers, the last of fewer, that together are from 0 to `end`; in no order, and at
 * the same time. No signal is taken by these threads. */
void workers_share(uint64_t end, uint64_t piece, void (*work)(void *context, uint64_t from, uint64_t to),
		   void *context);

#endif
