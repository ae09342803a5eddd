/* Messages that say why a process cannot be traced, and what to do about it. */
#ifndef FT_PROC_REFUSAL_H
#define FT_PROC_REFUSAL_H

#include <sys/types.h>

/* Why a process cannot be traced once it is attached to, by errno (positive): a clause without its full stop, constant
 * or as strerror() owns it. */
const char *refusal_reason(int error);
/* Of a process that could not be attached to, with this errno (positive). Returns 1, functrace's exit status. */
int refusal_of_attach(pid_t pid, int error);
/* The same where it is known before it is tried: there is no such process, it is the kernel's, or another tracer has
 * it. 0: none of these, and nothing was printed. */
int refusal_before_attach(pid_t pid);
/* Of a program that functrace has started. */
void refusal_of_launch(pid_t pid, const char *program, int error);

#endif
