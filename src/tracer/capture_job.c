#include "config.h"
#include "tracer/capture_job.h"
#include "scan/capture/heap_capture.h"

struct errand errand_by(struct ending *ending, const struct task *task)
{
	return (struct errand){.ending = ending,
			       .process = {.pid = task->process->pid, .arch = task->process->arch},
			       .task = {.tid = task->tid, .tgid = task->tgid}};
}

void errand_warm(void *context)
{
	struct errand *const errand = context;

	errand->task.process = &errand->process;
	errand->reason = ending_warm(errand->ending, &errand->task);
}

void errand_copy(void *context)
{
	struct errand *const errand = context;

	errand->task.process = &errand->process;
	errand->reason = ending_copy(errand->ending, &errand->task);
}

void errand_read(void *context)
{
	struct errand *const errand = context;

	errand->reason = ending_read(errand->ending, &errand->is_passing);
}

void errand_classify(void *context)
{
	struct errand *const errand = context;

	errand->reason = ending_classify(errand->ending);
}

void errand_copy_and_read(void *context)
{
	struct errand *const errand = context;

	errand_copy(errand);
	if (!errand->reason)
		errand_read(errand);
}
