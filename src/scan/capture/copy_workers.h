/* Splits work on ranges of memory among threads, one for each processor that the calling thread may use, at most 16.
 *
 * The threads exist only while workers_share() runs. A thread gets the ends of its range as two numbers, and no data
 * about processes, because only the calling thread may use such data. */
#ifndef FT_SCAN_CAPTURE_COPY_WORKERS_H
#define FT_SCAN_CAPTURE_COPY_WORKERS_H

#include <stdint.h>

/* The least number of ranges for which other threads are started; with fewer ranges a single thread is faster. */
#define WORKERS_LEAST 4

/* Calls work() for ranges that together cover the numbers from 0 to before `end`. Each range has `piece` numbers,
 * the last one may have fewer. The calls come in any order, several at the same time. The threads do not handle
 * signals. */
void workers_share(uint64_t end, uint64_t piece, void (*work)(void *context, uint64_t from, uint64_t to),
		   void *context);

#endif
