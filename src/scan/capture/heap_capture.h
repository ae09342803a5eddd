/* The heap of a traced process, which is looked at when all of its threads have come to their ends and it has its
 * memory still, or when they stand for a moment: its blocks, and what of them is lost. */
#ifndef FT_SCAN_CAPTURE_HEAP_CAPTURE_H
#define FT_SCAN_CAPTURE_HEAP_CAPTURE_H

#include "heap/heap.h"
#include "ptrace/tracee.h"

struct ending;

/* Of a process that has not begun to end. ending_free() frees it, and may get NULL. */
struct ending *ending_new(void);
void ending_free(struct ending *ending);
/* No copy of more bytes is made; 0 (at first): of any number. */
void ending_limit(struct ending *ending, uint64_t bytes);
/* Only the blocks are asked for, not what is lost of them: shared memory is not copied then. */
void ending_blocks_only(struct ending *ending);
/* A thread stands at its end (PTRACE_EVENT_EXIT), and its registers are read for the last time. One that ends by
 * itself, while others may go on, has none that count. */
void ending_add(struct ending *ending, struct task *task);
/* The same of one that has called exit(3), which does not come back: what counts is what its caller had then, the stack
 * from sp on and these words of its registers. */
void ending_add_exiting(struct ending *ending, struct task *task, uint64_t sp, const uint64_t *words, size_t count);
/* Any thread of a process that goes on. caller: not 0: it stands before the first instruction of a function, which
 * returns there: it is not in the midst of that function. */
void ending_add_alive(struct ending *ending, struct task *task, uint64_t caller);
/* Copies the memory, which the task has. After that the process may run, or be gone. NULL, or why it could not: a
 * static text. Memory: as much again as the process has written. */
const char *ending_copy(struct ending *ending, const struct task *task);
/* The same while the process runs, before its threads are stopped: the copy then takes a part of the time. What it says
 * of a limit, ending_copy() would say; other reasons may pass, and are none here. */
const char *ending_warm(struct ending *ending, const struct task *task);
/* Bytes that the copy does not have and that may have pointers: where there are any nothing is definitely lost. */
uint64_t ending_unknown_bytes(const struct ending *ending);
/* Reads the heap of the copy. NULL, or why it is not known: a static text. *is_passing: a thread may be in the midst of
 * changing the heap, and another copy some milliseconds later be good. */
const char *ending_read(struct ending *ending, bool *is_passing);
/* Forgets the copy, whose memory the next one uses: as a new one, with the same limits. */
void ending_again(struct ending *ending);
/* Whether that found no heap of an allocator that is understood: there may be one of another. */
bool ending_is_unknown(const struct ending *ending);
/* Whether a lock of the heap is held in the copy: a thread that goes on is in the midst of changing it. */
bool ending_is_locked(const struct ending *ending);
/* The heap that was read, which is the ending's. */
const struct heap *ending_heap(const struct ending *ending);
/* A block that was alive when the copy was made, as the trace has it. */
void ending_know(struct ending *ending, uint64_t address, uint64_t size);
/* Finds out what is lost of a heap that was read; of an unknown one, of the blocks that somebody else knows. NULL, or
 * why it is not known: a static text. */
const char *ending_classify(struct ending *ending);
/* Of a heap that was read: whether an address is in memory that it has for blocks; the allocator's figures, NULL where
 * it keeps none. */
bool ending_has(const struct ending *ending, uint64_t address);
const struct heap_figures *ending_figures(const struct ending *ending);
/* The heap that was read is not the one that the program uses: as if there were none that is understood. */
void ending_forget(struct ending *ending);
/* When it is classified: calls back for each block of the heap that is not reachable, by address; then for each known
 * one that lies inside such a block. */
void ending_each_lost(const struct ending *ending,
		      void (*callback)(void *context, uint64_t address, enum heap_class class), void *context);

#endif
