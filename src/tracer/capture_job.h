/* Jobs for a thread beside the tracer's: to copy the memory of a traced process, read the heap of the copy, and
 * classify its blocks. The thread uses none of the tracer's data; a job contains all that it needs. */
#ifndef FT_TRACER_CAPTURE_JOB_H
#define FT_TRACER_CAPTURE_JOB_H

#include "ptrace/tracee.h"

struct heap_capture;

struct capture_job {
	struct heap_capture *capture;
	struct process process; /* with its pid and arch only */
	struct task task;       /* the task that reads the memory, with its ids only */
	const char *reason;     /* why the function failed; NULL: it did not */
	bool is_passing;        /* another copy may succeed */
};

/* Makes a job. The memory is read through the task. */
struct capture_job capture_job_by(struct heap_capture *capture, const struct task *task);

/* Each does the work of the function of scan/capture/heap_capture.h with its name. For background_begin(); `job` is
 * a struct capture_job. */
void capture_job_warm(void *job);
void capture_job_copy(void *job);
void capture_job_read(void *job);
void capture_job_classify(void *job);
/* Copies the memory, and reads the copy. */
void capture_job_copy_and_read(void *job);

#endif
