/* What a thread beside the tracer's does with the memory of a traced process: it copies the memory, reads the heap of
 * the copy, finds out what is lost. None of the tracer's data are its own: an errand carries what it needs to know. */
#ifndef FT_TRACER_CAPTURE_JOB_H
#define FT_TRACER_CAPTURE_JOB_H

#include "ptrace/tracee.h"

struct heap_capture;

struct capture_job {
	struct heap_capture *ending;
	struct process process; /* its pid and arch alone */
	struct task task;       /* by which the memory is read: its ids alone */
	const char *reason;     /* as of the function that was called; NULL: none */
	bool is_passing;        /* that reason: another copy may have none */
};

/* The memory is read by the task. */
struct capture_job capture_job_by(struct heap_capture *ending, const struct task *task);

/* Each for background_begin(), with a struct capture_job, and as the function of scan/capture/heap_capture.h that has
 * its name. */
void capture_job_warm(void *errand);
void capture_job_copy(void *errand);
void capture_job_read(void *errand);
void capture_job_classify(void *errand);
/* Copies, and reads the copy. */
void capture_job_copy_and_read(void *errand);

#endif
