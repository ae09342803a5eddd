/* The modules around the tracer, and a function that runs the tracer. */
#ifndef FT_TESTS_FAKE_WORLD_H
#define FT_TESTS_FAKE_WORLD_H

#include <stdbool.h>
#include <sys/types.h>

#define WORLD_PIDS_MAX 4

struct world {
	pid_t pids[WORLD_PIDS_MAX]; /* processes to which functrace attaches */
	size_t pid_count;
	pid_t launched; /* or the launched target, which waits at its gate */
	bool stays;     /* -F */
	bool verify;
	bool unwritable; /* the trace */
	bool small;      /* there is no room for copies */
	bool refuses;    /* the kernel refuses to write text through /proc/PID/mem */
	bool figures;    /* at a process's end a thread reads its memory, and the last task waits for the thread */
	bool whole;      /* actions from before tracing has begun are recorded, too */
};

/* Runs the tracer from its beginning to its end. */
void world_run(const struct world *world);
/* world_let_go() and world_toggle() pass the user's request to detach, or to pause or resume, to the tracer. The
 * tracer's wait ends. */
void world_let_go(void);
/* Returns true if the user has asked the tracer to detach from all processes. */
bool world_is_let_go(void);
void world_toggle(void);
/* Called for each message of the tracer to a socket. If the message is for the visible process, records what that
 * process now sees in the shared state: tracing has begun, or the launched program has ended. */
void world_notified(int socket);
/* If the process is the visible one, records the signal and returns true. */
bool world_signalled(pid_t pid, int sig);
/* Makes about a second pass for the tracer. */
void world_tick(void);
void world_pump(void); /* calls pump_once() until no stop is ready, during another action */
/* Returns true if the guardian would find the task if it had to repair the target now. */
bool world_guards(pid_t tid);
/* Makes the trace of that process impossible to write from now on, which the tracer notices at a tick. */
void world_fill_disk(pid_t pid);

#endif
