#include "config.h"
#include "tracer/capture_job.h"
#include "scan/capture/heap_capture.h"

struct capture_job capture_job_by(struct heap_capture *ending, const struct task *task)
{
	return (struct capture_job){.ending = ending,
				    .process = {.pid = task->process->pid, .arch = task->process->arch},
				    .task = {.tid = task->tid, .tgid = task->tgid}};
}

void capture_job_warm(void *context)
{
	struct capture_job *const errand = context;

	errand->task.process = &errand->process;
	errand->reason = heap_capture_warm(errand->ending, &errand->task);
}

void capture_job_copy(void *context)
{
	struct capture_job *const errand = context;

	errand->task.process = &errand->process;
	errand->reason = heap_capture_copy(errand->ending, &errand->task);
}

void capture_job_read(void *context)
{
	struct capture_job *const errand = context;

	errand->reason = heap_capture_read(errand->ending, &errand->is_passing);
}

void capture_job_classify(void *context)
{
	struct capture_job *const errand = context;

	errand->reason = heap_capture_classify(errand->ending);
}

void capture_job_copy_and_read(void *context)
{
	struct capture_job *const errand = context;

	capture_job_copy(errand);
	if (!errand->reason)
		capture_job_read(errand);
}
