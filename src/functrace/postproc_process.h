/* Runs functrace-postproc as a child of functrace. */
#ifndef FT_FUNCTRACE_POSTPROC_PROCESS_H
#define FT_FUNCTRACE_POSTPROC_PROCESS_H

#include <sys/types.h>

#define POSTPROC_NAME "functrace-postproc"

/* The exit status of the child if functrace-postproc could not be executed, after a message. */
enum { POSTPROC_NOT_FOUND = 127 };

/* Starts the functrace-postproc beside this program, else the one in PATH. argv includes its name. in, out: its
 * standard input and output; -1: functrace's own. It begins with no signal blocked, and gets SIGTERM when this
 * process ends. Returns its pid, or -1 after a message. */
pid_t postproc_start(char *const *argv, int in, int out);
/* Waits until the process ends, and passes SIGTERM and SIGHUP on if they are blocked here. Returns the exit status;
 * 1 if a signal killed the process, or pid is -1. */
int postproc_wait(pid_t pid);

#endif
