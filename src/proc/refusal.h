/* Prints messages that say why a process cannot be traced, and what the user can do about it. */
#ifndef FT_PROC_REFUSAL_H
#define FT_PROC_REFUSAL_H

#include <sys/types.h>

/* Returns the reason why a process cannot be traced after attaching, by errno (positive): a clause without its full
 * stop. It is constant, or owned by strerror(). */
const char *refusal_reason(int error);
/* Explains why a process could not be attached to, with this errno (positive). Returns 1, functrace's exit status. */
int refusal_of_attach(pid_t pid, int error);
/* Checks before attaching: explains it, and returns 1, if there is no such process, it is the kernel's, or it has
 * another tracer. Otherwise returns 0 and prints nothing. */
int refusal_before_attach(pid_t pid);
/* Explains why a program that functrace has started cannot be traced. */
void refusal_of_launch(pid_t pid, const char *program, int error);

#endif
