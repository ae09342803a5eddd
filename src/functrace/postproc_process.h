/* Runs functrace-postproc as a child of functrace. */
#ifndef FT_FUNCTRACE_POSTPROC_PROCESS_H
#define FT_FUNCTRACE_POSTPROC_PROCESS_H

#include <sys/types.h>

#define POSTPROC_NAME "functrace-postproc"

/* Exit status of the process from postproc_start() if functrace-postproc could not be executed; that process has
 * printed a message. */
enum { POSTPROC_NOT_FOUND = 127 };

/* Starts functrace-postproc: the file in this program's folder, or else the one in PATH. argv: the arguments; argv[0]
 * is the child's name. in, out: descriptors for its standard input and output; -1: those of functrace. The child starts
 * with no signal blocked, and gets SIGTERM when this process ends. Returns its pid, or -1 after a message. */
pid_t postproc_start(char *const *argv, int in, int out);
/* Waits until the process ends. Passes SIGTSTP to the process, and SIGTERM and SIGHUP as far as they are blocked here.
 * When SIGTSTP has stopped the process, functrace stops, too. Returns the exit status of the process; returns 1 if a
 * signal killed the process, or if pid is -1. */
int postproc_wait(pid_t pid);

#endif
