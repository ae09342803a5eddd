/* Does work on ranges of memory, by as many threads as this thread has processors.
 *
 * The threads exist only while workers_share() runs. They get a range of numbers and nothing else, because all data
 * about processes belong to the calling thread. */
#ifndef FT_SCAN_CAPTURE_COPY_WORKERS_H
#define FT_SCAN_CAPTURE_COPY_WORKERS_H

#include <stdint.h>

/* With fewer ranges a single thread is faster than starting others. */
#define WORKERS_LEAST 4

/* Calls work() for ranges of `piece` numbers, the last one of fewer, which together are 0 to `end`: in no order, and
 * several at the same time. These threads take no signals. */
void workers_share(uint64_t end, uint64_t piece, void (*work)(void *context, uint64_t from, uint64_t to),
		   void *context);

#endif
