/* Moves stopped threads out of the allocator before the copy. */
#ifndef FT_SCAN_CAPTURE_LEAVE_ALLOCATOR_H
#define FT_SCAN_CAPTURE_LEAVE_ALLOCATOR_H

#include "ptrace/freeze_untraced.h"

/* Lets threads run for moments until they have left certain code: the code of the C library and of the shared object
 * with path `object` (NULL: none), and system calls that malloc or that object makes. Tries this for some 200 ms.
 * Returns the number of threads that are still in the code, because they work there for long, or wait for a lock that
 * such a thread holds. If a signal has stopped the process, returns 0 at once. */
size_t leave_allocator_code(struct frozen_process *frozen, const char *object);
/* In a process with several threads, lets threads run for moments until no lock of the heap is held, for some 200 ms at
 * most. A lock is a word of 4 bytes that is not 0 while it is held. A thread runs only if it may hold a lock, because
 * the lock's address is in a register or near the top of the stack. Returns the number of locks that are still held. */
size_t leave_allocator_locks(struct frozen_process *frozen, const uint64_t *locks, size_t count);
/* Does the same as leave_allocator_locks() for locks that cannot be marked as contended: all threads that may be inside
 * malloc run for moments, until none of these locks is held. */
size_t leave_allocator_wait(struct frozen_process *frozen, const uint64_t *locks, size_t count);
/* Returns true if malloc makes this system call as part of its work. */
bool is_malloc_syscall(const struct arch *arch, long number);

#endif
