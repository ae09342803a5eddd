/* What a process has lost when it ends: looked at when all of its threads have come to their ends, and it has its
 * memory still. */
#ifndef FT_SCAN_ENDING_H
#define FT_SCAN_ENDING_H

#include "heap/heap.h"
#include "ptrace/tracee.h"

struct ending;

/* Of a process that has not begun to end. ending_free() frees it, and may get NULL. */
struct ending *ending_new(void);
void ending_free(struct ending *ending);
/* A thread stands at its end (PTRACE_EVENT_EXIT), and its registers are read for the last time. One that ends by
 * itself, while others may go on, has none that count. */
void ending_add(struct ending *ending, struct task *task);
/* The last one stands there: copies the memory, and finds out what is lost of the heap. NULL, or why it is not known:
 * a static text. Memory: as much again as the process has written. */
const char *ending_scan(struct ending *ending, const struct task *task);
/* After that: the allocator's figures; and calls back for each block of the heap that is not reachable, by address. */
const struct heap_figures *ending_figures(const struct ending *ending);
void ending_each_lost(const struct ending *ending,
		      void (*callback)(void *context, uint64_t address, enum heap_class class), void *context);

#endif
