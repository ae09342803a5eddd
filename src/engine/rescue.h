/* Puts right the processes that were traced when E was killed: see rescue.c. */
#ifndef FT_ENGINE_RESCUE_H
#define FT_ENGINE_RESCUE_H

#include "engine/board.h"

/* A process that was traced. */
struct rescued_process {
	pid_t pid;
	int handle;     /* a pidfd, or -1 where the kernel has none */
	bool is_doomed; /* a task has a SIGTRAP that nobody takes away any more */
	bool stopped;   /* by our SIGSTOP */
	bool lost;      /* a task could not be set right: it must not run */
	char name[16];
};

struct rescue {
	const struct board *board;
	pid_t tracer; /* E's tracer thread, held in its end; 0: it was not */
	struct rescued_task *tasks;
	struct rescued_process *processes;
	size_t task_count, task_capacity, process_count, process_capacity;
	bool target_ended; /* the launched target was reaped by rescue_end(), with: */
	int target_status;
};

/* Before the tracer thread goes, and after the text is whole: lists who is traced, and sends SIGSTOP to each
 * task that must not go on where it is. With tracer 0 only lists. */
void rescue_begin(struct rescue *r, const struct board *board, pid_t tracer);
/* After it has been let go: sets those tasks right. */
void rescue_end(struct rescue *r);

/* ---- rescue_report.c ---- */

/* Reports who lives, and frees. */
void rescue_report(struct rescue *r);

#endif
