/* Prevents the deadlock between PTRACE_SEIZE and an exec in another thread.
 *
 * An exec waits until all other threads have ended, and a traced thread ends only after its tracer has collected its
 * exit stop. Meanwhile the exec holds a lock (cred_guard_mutex) that PTRACE_SEIZE of another thread waits for:
 *
 *	thread: exec, waits until the others have ended | ended thread: waits to be collected | tracer: in PTRACE_SEIZE
 *
 * All three would wait for ever. The kernel restarts PTRACE_SEIZE after a signal handler has run (ERESTARTNOINTR in
 * ptrace_attach()). So functrace collects stops in a signal handler. */
#ifndef FT_PTRACE_EXEC_LOCK_H
#define FT_PTRACE_EXEC_LOCK_H

/* From now on, a signal handler calls look() again and again, each time five milliseconds after the end of the previous
 * call. The handler preserves errno, and runs in the calling thread, because all other threads block SIGALRM. */
void exec_lock_watch(void (*look)(void));
void exec_lock_unwatch(void);

#endif
