/* functrace-postproc as a process that functrace starts. */
#ifndef FT_FUNCTRACE_POSTPROC_PROCESS_H
#define FT_FUNCTRACE_POSTPROC_PROCESS_H

#include <sys/types.h>

#define POSTPROC_NAME "functrace-postproc"

/* The status of a process that could not run it, which has been said. */
enum { POSTPROC_NOT_FOUND = 127 };

/* Starts the functrace-postproc that stands beside this program, else the one in PATH, with these words (the first
 * is its name), its standard input and output from these descriptors (-1: ours), and no signal blocked. It gets SIGTERM
 * when this process ends. Its pid; -1 after a message. */
pid_t postproc_start(char *const *argv, int in, int out);
/* Waits for its end, and passes SIGTERM and SIGHUP on where these are blocked. Its exit status; 1 if it died of a
 * signal, or pid is -1. */
int postproc_wait(pid_t pid);

#endif
