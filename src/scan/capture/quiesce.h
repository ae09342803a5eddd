/* Bringing threads that stand to places where no allocator is in the midst of its work. */
#ifndef FT_SCAN_CAPTURE_QUIESCE_H
#define FT_SCAN_CAPTURE_QUIESCE_H

#include "ptrace/freeze.h"

/* Threads that stand in the C library's code, in that of the shared object with that path (NULL: none), or in a system
 * call that malloc or that object makes, run on for moments, each until it is found elsewhere. How many did not come
 * out: they work there for long, wait for a lock that such a one has, or a signal has stopped the process. */
size_t quiesce_outside_libc(struct frozen_process *hold, const char *object);
/* The same by the locks of the heap, words of 4 bytes that are not 0 while they are held, in a process of several
 * threads: those run on that may hold one, for its address is in a register or near the top of the stack. How many
 * locks are still held. */
size_t quiesce_outside_locks(struct frozen_process *hold, const uint64_t *locks, size_t count);
/* The same of locks that cannot be marked as waited for: all threads that may be in malloc run on for moments, until a
 * moment is met in which none of these is held. */
size_t quiesce_wait_locks(struct frozen_process *hold, const uint64_t *locks, size_t count);
/* Whether malloc makes that system call in the midst of its work. */
bool quiesce_is_malloc_call(const struct arch *arch, long number);

#endif
