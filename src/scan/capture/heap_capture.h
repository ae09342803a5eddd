/* Captures the heap of a traced process, when all of its threads are at their ends and it still has its memory, or
 * while they are stopped for a moment. Finds the blocks, and which of them are lost. */
#ifndef FT_SCAN_CAPTURE_HEAP_CAPTURE_H
#define FT_SCAN_CAPTURE_HEAP_CAPTURE_H

#include "heap/heap.h"
#include "ptrace/tracee.h"

struct heap_capture;

/* Makes an empty capture. heap_capture_free() frees it; NULL is allowed. */
struct heap_capture *heap_capture_new(void);
void heap_capture_free(struct heap_capture *capture);
/* Limits the copy to this many bytes; 0 (at first): no limit. */
void heap_capture_limit(struct heap_capture *capture, uint64_t bytes);
/* Captures only the blocks, not which of them are lost; shared memory is then not copied. */
void heap_capture_blocks_only(struct heap_capture *capture);
/* Adds a thread that is stopped at its end (PTRACE_EVENT_EXIT), with its last registers. A thread that ends by itself,
 * while others may go on, is left out, because its registers do not count. */
void heap_capture_add(struct heap_capture *capture, struct task *task);
/* Adds a thread that has called exit(3), which does not return. What counts is the stack of exit()'s caller, from sp
 * on, and these words of the caller's registers. */
void heap_capture_add_exiting(struct heap_capture *capture, struct task *task, uint64_t sp, const uint64_t *words,
			      size_t count);
/* Adds a thread of a process that goes on. If `caller` is not 0, the thread is stopped before the first instruction of
 * a function that returns there, and is not inside this function. */
void heap_capture_add_alive(struct heap_capture *capture, struct task *task, uint64_t caller);
/* Copies the memory of the task's process, which may run or be gone afterwards. Returns NULL, or why that failed, as
 * static text. Takes as much memory as the process has written. */
const char *heap_capture_copy(struct heap_capture *capture, const struct task *task);
/* Prepares the copy while the process runs, so that the copy takes a fraction of the time. Returns a text if
 * heap_capture_copy() would exceed a limit, else NULL; other errors are ignored, because they may pass. */
const char *heap_capture_warm(struct heap_capture *capture, const struct task *task);
/* Returns how many bytes that may contain pointers are missing in the copy. If there are any, no block is definitely
 * lost. */
uint64_t heap_capture_unknown_bytes(const struct heap_capture *capture);
/* Reads the heap of the copy. Returns NULL, or why the heap is unknown, as static text. *is_passing: a thread may be
 * inside the allocator, and another copy some milliseconds later may be consistent. */
const char *heap_capture_read(struct heap_capture *capture, bool *is_passing);
/* Discards the copy, whose memory the next one uses. The limits stay. */
void heap_capture_again(struct heap_capture *capture);
/* Returns whether no heap of a known allocator was found; there may be one of another allocator. */
bool heap_capture_is_unknown(const struct heap_capture *capture);
/* Returns whether a lock of the heap is held in the copy: a thread that goes on is inside the allocator. */
bool heap_capture_is_locked(const struct heap_capture *capture);
/* Returns the heap that was read, which belongs to the capture. */
const struct heap *heap_capture_heap(const struct heap_capture *capture);
/* Adds a block that was live when the copy was made, according to the trace. */
void heap_capture_note_block(struct heap_capture *capture, uint64_t address, uint64_t size);
/* Classifies the blocks of the heap that was read; if the allocator is unknown, those of heap_capture_note_block().
 * Returns NULL, or why that failed, as static text. */
const char *heap_capture_classify(struct heap_capture *capture);
/* For a heap that was read: whether an address is in memory that it has for blocks; and the allocator's figures, NULL
 * if it keeps none. */
bool heap_capture_has(const struct heap_capture *capture, uint64_t address);
const struct heap_figures *heap_capture_figures(const struct heap_capture *capture);
/* Discards the heap that was read, because the program does not use it. The allocator is unknown then. */
void heap_capture_forget(struct heap_capture *capture);
/* After heap_capture_classify(): calls back for each block of the heap that is not reachable, by address, then for each
 * known block inside such a block. */
void heap_capture_each_lost(const struct heap_capture *capture,
			    void (*callback)(void *context, uint64_t address, enum heap_class class), void *context);

#endif
