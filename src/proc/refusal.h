/* Prints messages that say why a process cannot be traced, and what the user can do about it. */
#ifndef FT_PROC_REFUSAL_H
#define FT_PROC_REFUSAL_H

#include <errno.h>
#include <sys/types.h>

/* Returns the reason why a process cannot be traced, by errno (positive), as a clause without a full stop. The text is
 * constant, or owned by strerror(). */
const char *refusal_reason(int error);
/* The error of an attempt to attach that failed because the process had another tracer, which may have gone since. */
#define REFUSED_BY_TRACER EALREADY
/* Prints why a process could not be attached to, by this errno (positive). Returns 1, functrace's exit status. */
int refusal_of_attach(pid_t pid, int error);
/* Called before attaching. If there is no such process, or it is a kernel thread, or it has another tracer, prints a
 * message that says so and returns 1. Otherwise prints nothing and returns 0. */
int refusal_before_attach(pid_t pid);
/* Prints why a program that functrace has started cannot be traced. */
void refusal_of_launch(pid_t pid, const char *program, int error);

#endif
