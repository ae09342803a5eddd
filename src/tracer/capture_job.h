/* Jobs for a background thread: to copy the memory of a traced process, read the heap in the copy, and classify its
 * blocks. That thread uses none of the tracer's data; the job contains all data that it needs. */
#ifndef FT_TRACER_CAPTURE_JOB_H
#define FT_TRACER_CAPTURE_JOB_H

#include "ptrace/tracee.h"

struct heap_capture;

struct capture_job {
	struct heap_capture *capture;
	struct process process; /* has only pid and arch */
	struct task task;       /* the task through which the memory is read; has only ids */
	const char *reason;     /* why the job has failed; NULL: it has not failed */
	bool is_passing;        /* the failure is temporary: another copy may succeed */
};

/* Makes a job. The job reads the memory through `task`. */
struct capture_job capture_job_by(struct heap_capture *capture, const struct task *task);

/* Functions for background_begin(): capture_job_warm() does the work of heap_capture_warm(), and so on (see
 * scan/capture/heap_capture.h). `job` is a struct capture_job. */
void capture_job_warm(void *job);
void capture_job_copy(void *job);
void capture_job_read(void *job);
void capture_job_classify(void *job);
/* Copies the memory, and reads the copy. */
void capture_job_copy_and_read(void *job);

#endif
