#include "config.h"
#include "tracer/capture_job.h"
#include "scan/capture/heap_capture.h"

struct capture_job capture_job_by(struct heap_capture *capture, const struct task *task)
{
	return (struct capture_job){.capture = capture,
				    .process = {.pid = task->process->pid, .arch = task->process->arch},
				    .task = {.tid = task->tid, .tgid = task->tgid}};
}

void capture_job_warm(void *context)
{
	struct capture_job *const job = context;

	job->task.process = &job->process;
	job->reason = heap_capture_warm(job->capture, &job->task);
}

void capture_job_copy(void *context)
{
	struct capture_job *const job = context;

	job->task.process = &job->process;
	job->reason = heap_capture_copy(job->capture, &job->task);
}

void capture_job_read(void *context)
{
	struct capture_job *const job = context;

	job->reason = heap_capture_read(job->capture, &job->is_passing);
}

void capture_job_classify(void *context)
{
	struct capture_job *const job = context;

	job->reason = heap_capture_classify(job->capture);
}

void capture_job_copy_and_read(void *context)
{
	struct capture_job *const job = context;

	capture_job_copy(job);
	if (!job->reason)
		capture_job_read(job);
}
