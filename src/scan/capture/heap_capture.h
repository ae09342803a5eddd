/* The heap of a traced process, which is looked at when all of its threads have come to their ends and it has its
 * memory still, or when they stand for a moment: its blocks, and what of them is lost. */
#ifndef FT_SCAN_CAPTURE_HEAP_CAPTURE_H
#define FT_SCAN_CAPTURE_HEAP_CAPTURE_H

#include "heap/heap.h"
#include "ptrace/tracee.h"

struct heap_capture;

/* Of a process that has not begun to end. heap_capture_free() frees it, and may get NULL. */
struct heap_capture *heap_capture_new(void);
void heap_capture_free(struct heap_capture *ending);
/* No copy of more bytes is made; 0 (at first): of any number. */
void heap_capture_limit(struct heap_capture *ending, uint64_t bytes);
/* Only the blocks are asked for, not what is lost of them: shared memory is not copied then. */
void heap_capture_blocks_only(struct heap_capture *ending);
/* A thread stands at its end (PTRACE_EVENT_EXIT), and its registers are read for the last time. One that ends by
 * itself, while others may go on, has none that count. */
void heap_capture_add(struct heap_capture *ending, struct task *task);
/* The same of one that has called exit(3), which does not come back: what counts is what its caller had then, the stack
 * from sp on and these words of its registers. */
void heap_capture_add_exiting(struct heap_capture *ending, struct task *task, uint64_t sp, const uint64_t *words,
			      size_t count);
/* Any thread of a process that goes on. caller: not 0: it stands before the first instruction of a function, which
 * returns there: it is not in the midst of that function. */
void heap_capture_add_alive(struct heap_capture *ending, struct task *task, uint64_t caller);
/* Copies the memory, which the task has. After that the process may run, or be gone. NULL, or why it could not: a
 * static text. Memory: as much again as the process has written. */
const char *heap_capture_copy(struct heap_capture *ending, const struct task *task);
/* The same while the process runs, before its threads are stopped: the copy then takes a part of the time. What it says
 * of a limit, heap_capture_copy() would say; other reasons may pass, and are none here. */
const char *heap_capture_warm(struct heap_capture *ending, const struct task *task);
/* Bytes that the copy does not have and that may have pointers: where there are any nothing is definitely lost. */
uint64_t heap_capture_unknown_bytes(const struct heap_capture *ending);
/* Reads the heap of the copy. NULL, or why it is not known: a static text. *is_passing: a thread may be in the midst of
 * changing the heap, and another copy some milliseconds later be good. */
const char *heap_capture_read(struct heap_capture *ending, bool *is_passing);
/* Forgets the copy, whose memory the next one uses: as a new one, with the same limits. */
void heap_capture_again(struct heap_capture *ending);
/* Whether that found no heap of an allocator that is understood: there may be one of another. */
bool heap_capture_is_unknown(const struct heap_capture *ending);
/* Whether a lock of the heap is held in the copy: a thread that goes on is in the midst of changing it. */
bool heap_capture_is_locked(const struct heap_capture *ending);
/* The heap that was read, which is the ending's. */
const struct heap *heap_capture_heap(const struct heap_capture *ending);
/* A block that was alive when the copy was made, as the trace has it. */
void heap_capture_know(struct heap_capture *ending, uint64_t address, uint64_t size);
/* Finds out what is lost of a heap that was read; of an unknown one, of the blocks that somebody else knows. NULL, or
 * why it is not known: a static text. */
const char *heap_capture_classify(struct heap_capture *ending);
/* Of a heap that was read: whether an address is in memory that it has for blocks; the allocator's figures, NULL where
 * it keeps none. */
bool heap_capture_has(const struct heap_capture *ending, uint64_t address);
const struct heap_figures *heap_capture_figures(const struct heap_capture *ending);
/* The heap that was read is not the one that the program uses: as if there were none that is understood. */
void heap_capture_forget(struct heap_capture *ending);
/* When it is classified: calls back for each block of the heap that is not reachable, by address; then for each known
 * one that lies inside such a block. */
void heap_capture_each_lost(const struct heap_capture *ending,
			    void (*callback)(void *context, uint64_t address, enum heap_class class), void *context);

#endif
