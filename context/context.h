/* Contexts: what a program is busy with, told to whoever traces it.
 *
 *     static unsigned int parsing;
 *     ...
 *     parsing = sp_context_create("parsing");
 *     sp_context_enter(parsing);
 *     ...                                      calls made here are marked in the trace
 *     sp_context_exit(parsing);
 *
 * functrace writes the name into the trace, and marks each call that a thread makes between enter and exit. When nobody
 * traces, enter and exit are a few instructions each, without a system call but for the first enter of a thread that is
 * in no context. All functions can be called by any thread at any time, also in signal handlers; none of them
 * allocates, fails or changes errno.
 *
 * Link with -lfunctrace-context (pkg-config functrace-context).
 *
 * Anybody may use, copy, change and pass on this header and the library for any purpose. There is no warranty. */
#ifndef FUNCTRACE_CONTEXT_H
#define FUNCTRACE_CONTEXT_H

#ifdef __cplusplus
extern "C" {
#endif

/* A new context: a single bit, its id. At most 59 bytes of the name are kept; a name that there is already gives the
 * context that has it. 0, which enter and exit ignore: 32 contexts exist, or the name is NULL or empty. */
unsigned int sp_context_create(const char *name);
/* From now on the calling thread is in the context. To enter it twice is the same as once. */
void sp_context_enter(unsigned int id);
/* The calling thread is in it no more. */
void sp_context_exit(unsigned int id);

#ifdef __cplusplus
}
#endif

#endif
