/* Corrects the traced processes after the engine (E) was killed: see rescue_tasks.c. */
#ifndef FT_ENGINE_RESCUE_TASKS_H
#define FT_ENGINE_RESCUE_TASKS_H

#include "engine/shared_state.h"

/* A process that was traced. */
struct rescued_process {
	pid_t pid;
	int handle;     /* a pidfd, or -1 if the kernel has none */
	bool is_doomed; /* a task has a pending SIGTRAP that cannot be removed any more */
	bool stopped;   /* the guardian has stopped it with SIGSTOP */
	bool lost;      /* a task could not be corrected, so the process must not continue */
	char name[16];
};

struct rescue {
	const struct shared_state *shared;
	pid_t tracer; /* the engine's tracer thread, traced by the guardian at its exit event; 0: it is not traced */
	struct rescued_task *tasks;
	struct rescued_process *processes;
	size_t task_count, task_capacity, process_count, process_capacity;
	bool target_ended; /* the launched target was reaped by rescue_end(), with this status: */
	int target_status;
};

/* Lists the traced processes and the tasks that must not continue at their present pc, and sends SIGSTOP to these
 * tasks. Called after the text was restored and before the tracer thread is released. With tracer 0 lists the processes
 * only. */
void rescue_begin(struct rescue *r, const struct shared_state *shared, pid_t tracer);
/* Corrects the tasks that got SIGSTOP. Called after the tracer thread was released. */
void rescue_end(struct rescue *r);

/* ---- rescue_report.c ---- */

/* Reports which processes continue, and frees r's lists. */
void rescue_report(struct rescue *r);

#endif
