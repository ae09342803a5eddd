/* Contexts: names for what the threads of a program are doing, for the trace.
 *
 *     static unsigned int parsing;
 *     ...
 *     parsing = sp_context_create("parsing");
 *     sp_context_enter(parsing);
 *     ...                                      the trace marks calls that are made here
 *     sp_context_exit(parsing);
 *
 * functrace writes the name into the trace, and marks each call that a thread makes between enter and exit. In a
 * program that is not traced, enter and exit run a few instructions each. The only system call is gettid(), when a
 * thread that is in no context enters one. Any thread can call all functions at any time, also in signal
 * handlers. The functions allocate nothing and do not change errno.
 *
 * Link with -lfunctrace-context (pkg-config functrace-context).
 *
 * Everyone may use, copy, change and pass on this header and the library for any purpose. There is no warranty. */
#ifndef FUNCTRACE_CONTEXT_H
#define FUNCTRACE_CONTEXT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a context and returns its id, a single bit. If a context of this name exists, returns its id. At most 59 bytes
 * of the name are kept. Returns 0, which enter and exit ignore, if 32 contexts exist or the name is NULL or empty. */
unsigned int sp_context_create(const char *name);
/* Puts the calling thread into the context, until the thread calls sp_context_exit(). Entering a context twice is the
 * same as entering it once. */
void sp_context_enter(unsigned int id);
/* Takes the calling thread out of the context. */
void sp_context_exit(unsigned int id);

#ifdef __cplusplus
}
#endif

#endif
