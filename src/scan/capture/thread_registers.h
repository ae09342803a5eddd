/* Reads the registers of stopped threads in the form of a memory image. */
#ifndef FT_SCAN_CAPTURE_THREAD_REGISTERS_H
#define FT_SCAN_CAPTURE_THREAD_REGISTERS_H

#include "heap/image.h"
#include "ptrace/freeze_untraced.h"

/* The threads' registers. The caller zeroes the struct first. */
struct scan_threads {
	struct heap_thread *items;
	size_t count, capacity;
	size_t asleep; /* number of stopped threads in a system call that malloc does not make */
	pid_t *others; /* processes that scan_threads_find_others() has found */
	size_t other_count;
	size_t sharers; /* number of `others` that still used the same memory when the threads were stopped */
};

/* Finds the other processes that use the memory of process `pid`. Takes some milliseconds. */
void scan_threads_find_others(struct scan_threads *threads, pid_t pid);
/* Reads the registers of all threads of the process, which replace the earlier ones. Adds a thread for each process
 * that scan_threads_find_others() has found and that still uses the memory. Of a thread that could not be stopped, and
 * of the other processes, only pc and sp are known, and these only if the thread is blocked in a system call. */
void scan_threads_read(struct scan_threads *threads, struct frozen_process *frozen);
/* Adds the registers of one task. Of a task that is not stopped, only pc and sp are known, and these only if the
 * task is blocked in a system call. */
void scan_threads_add(struct scan_threads *threads, struct task *task);
/* Sets the registers of the last added thread to `sp` and `words`. The thread is then treated as outside of the
 * allocator, and as a thread whose functions will not continue. */
void scan_threads_replace(struct scan_threads *threads, uint64_t sp, const uint64_t *words, size_t count);
/* Adds the words in `size` bytes of registers to thread->words, which the caller frees. */
void scan_thread_add_words(struct heap_thread *thread, const unsigned char *bytes, size_t size,
			   const struct arch *arch);
/* Returns the number of threads whose registers are unknown, including the threads of other processes that use the
 * memory. */
size_t scan_threads_unknown(const struct scan_threads *threads);
void scan_threads_free(struct scan_threads *threads);

#endif
