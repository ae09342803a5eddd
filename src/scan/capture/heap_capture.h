/* Captures the heap of a traced process when all of its threads are exiting and the process still has its memory, or
 * while its threads are stopped for a moment. Finds the blocks, and which of them are lost. */
#ifndef FT_SCAN_CAPTURE_HEAP_CAPTURE_H
#define FT_SCAN_CAPTURE_HEAP_CAPTURE_H

#include "heap/heap.h"
#include "ptrace/tracee.h"

struct heap_capture;

/* Makes an empty capture. heap_capture_free() frees it; NULL is allowed. */
struct heap_capture *heap_capture_new(void);
void heap_capture_free(struct heap_capture *capture);
/* Sets the largest size of a copy in bytes; a larger copy fails. 0, the default, means no limit. */
void heap_capture_limit(struct heap_capture *capture, uint64_t bytes);
/* Restricts the capture to the blocks, so that shared memory is not copied. Then the capture does not find which blocks
 * are lost. */
void heap_capture_blocks_only(struct heap_capture *capture);
/* Adds a thread that is stopped at its exit (PTRACE_EVENT_EXIT), with its last registers. The caller does not add a
 * thread that exits by itself, while others may continue, because its registers do not keep blocks alive. */
void heap_capture_add(struct heap_capture *capture, struct task *task);
/* Adds a thread that has called exit(3), which does not return. The thread's roots are the stack of exit()'s caller,
 * from `sp` on, and the words of the caller's registers in `words`. */
void heap_capture_add_exiting(struct heap_capture *capture, struct task *task, uint64_t sp, const uint64_t *words,
			      size_t count);
/* Adds a thread of a process that continues. caller: if not 0, the thread is stopped before the first instruction of a
 * function, and `caller` is the return address. Then the thread is treated as not inside this function. */
void heap_capture_add_alive(struct heap_capture *capture, struct task *task, uint64_t caller);
/* Copies the memory of the task's process. Afterwards the process may run or exit. Returns NULL, or a static text
 * that says why the copy failed. Takes as much memory as the process has written. */
const char *heap_capture_copy(struct heap_capture *capture, const struct task *task);
/* Prepares the copy while the process runs, so that the copy takes a fraction of the time. Returns a text if
 * heap_capture_copy() would exceed a limit, else NULL. Other errors are ignored, because they may not occur again. */
const char *heap_capture_warm(struct heap_capture *capture, const struct task *task);
/* Returns the number of bytes that may contain pointers and are missing in the copy. If any are missing, no block is
 * classified as definitely lost. */
uint64_t heap_capture_unknown_bytes(const struct heap_capture *capture);
/* Returns the number of threads whose registers are missing in the copy. If any are missing, no block is classified as
 * definitely lost, either. */
size_t heap_capture_unknown_threads(const struct heap_capture *capture);
/* Reads the heap in the copy. Returns NULL, or a static text that says why the heap is unknown.
 * *is_passing: the result of heap_status_is_passing(). */
const char *heap_capture_read(struct heap_capture *capture, bool *is_passing);
/* Discards the copy, the threads that were added, the heap that was read, and the blocks of heap_capture_note_block().
 * The next copy reuses the memory of the discarded one. The settings of heap_capture_limit() and
 * heap_capture_blocks_only() stay. */
void heap_capture_again(struct heap_capture *capture);
/* Returns true if no heap of a known allocator was found; the process may have a heap of another allocator. */
bool heap_capture_is_unknown(const struct heap_capture *capture);
/* Returns true if a lock of the heap is held in the copy, so that a thread may be changing the heap. */
bool heap_capture_is_locked(const struct heap_capture *capture);
/* Returns the heap that was read, which belongs to the capture. */
const struct heap *heap_capture_heap(const struct heap_capture *capture);
/* Adds a block that was live when the copy was made, according to the trace. */
void heap_capture_note_block(struct heap_capture *capture, uint64_t address, uint64_t size);
/* Classifies the blocks of the heap that was read, and those of heap_capture_note_block() that are outside of this
 * heap's regions, because they are of another allocator. If the heap's allocator is unknown, classifies all blocks of
 * heap_capture_note_block(). Returns NULL, or a static text that says why this failed. */
const char *heap_capture_classify(struct heap_capture *capture);
/* For a heap that was read: heap_capture_has() returns true if an address is in memory in which the allocator has
 * blocks. heap_capture_figures() returns the allocator's figures, NULL if it keeps none. */
bool heap_capture_has(const struct heap_capture *capture, uint64_t address);
const struct heap_figures *heap_capture_figures(const struct heap_capture *capture);
/* Discards the heap that was read, because the program does not use it. The allocator is then treated as unknown. */
void heap_capture_forget(struct heap_capture *capture);
/* After heap_capture_classify(): calls callback() for each block of the heap that is not reachable, in order of
 * address. Then does the same for each block of heap_capture_note_block() that is inside such a block. */
void heap_capture_each_lost(const struct heap_capture *capture,
			    void (*callback)(void *context, uint64_t address, enum heap_class class), void *context);

#endif
