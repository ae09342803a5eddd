/* What was traced when E was killed: see rescue.c. */
#ifndef FT_ENGINE_RESCUE_H
#define FT_ENGINE_RESCUE_H

#include "engine/board.h"

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
/* Reports who lives, and frees. */
void rescue_report(struct rescue *r);

#endif
