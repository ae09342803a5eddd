/* The registers of threads that stand, in the form of a memory image. */
#ifndef FT_SCAN_CAPTURE_THREAD_REGISTERS_H
#define FT_SCAN_CAPTURE_THREAD_REGISTERS_H

#include "heap/image.h"
#include "ptrace/freeze.h"

/* Zero at first. */
struct scan_threads {
	struct heap_thread *items;
	size_t count, capacity;
	size_t asleep; /* of those that stand: in a system call that malloc does not make */
};

/* Those of all threads that are held, in the place of what there was before. Of one that could not be stopped only
 * where it sleeps is known. */
void scan_threads_read(struct scan_threads *threads, struct frozen_process *hold);
/* Adds those of one task. Of one that does not stand only where it sleeps is known. */
void scan_threads_add(struct scan_threads *threads, struct task *task);
/* Of the one that was added last: it is in no allocator, and has these words in its registers. */
void scan_threads_replace(struct scan_threads *threads, uint64_t sp, const uint64_t *words, size_t count);
void scan_threads_free(struct scan_threads *threads);

#endif
