#include "config.h"
#include "tracer/stop.h"
#include "base/msg.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* The tracer's thread: collect, act, and what the visible process asks for. */

static void toggle(struct tracer *t)
{
	struct process *failed;

	for (struct process *p = t->processes; p; p = p->next)
		process_own(p);
	t->paused = !t->paused;
	pin_undo(t);
	for (struct process *p = t->processes; p; p = p->next) {
		if (t->paused) {
			process_pause(p, "paused");
			output_report(p);
		} else {
			p->reported = false;
			ledger_free(p);
			ledger_init(p);
			memset(&p->counts, 0, sizeof(p->counts));
			free(p->trace_path);
			p->trace_path = NULL;
			p->attached = true;
		}
	}
	if (!t->paused)
		processes_start(t, &failed);
	msg_info("tracing is %s", t->paused ? "paused" : "on");
}

static void serve(struct tracer *t)
{
	const unsigned requests = engine_take_requests(t->engine);

	if (requests & REQUEST_TICK) {
		output_flush_all(t);
		pin_tick(t);
		progress_show(t);
	}
	if (requests & REQUEST_TOGGLE)
		toggle(t);
	if (requests & REQUEST_LET_GO)
		let_go(t);
	else if (t->has_broken)
		let_go_broken(t);
}

static void tracer_free(struct tracer *t)
{
	/* Tasks that were let go of. */
	while (t->tasks.count) {
		size_t i = 0;
		struct task *task = (struct task *)(uintptr_t)hash_next(&t->tasks, &i)->value;
		struct process *p = task->process;

		task_free(t, task);
		if (p)
			process_unref(p, NULL);
	}
	for (size_t i = 0; i < t->wanted_count; i++)
		free(t->wanted[i].shown);
	free(t->wanted);
	hash_free(&t->wanted_names);
	hash_free(&t->tasks);
	trace_files_free(&t->files);
	free(t->queue);
	free(t->stack);
	free(t->spare_call);
	pin_free(t);
}

int tracer_run(struct engine *engine, const struct settings *settings, struct launch *launch)
{
	struct tracer t = {.set = settings, .engine = engine, .launch = launch, .paused = settings->start_paused};
	int status;

	cpu_set_t processors;

	t.one_processor = sched_getaffinity(0, sizeof(processors), &processors) == 0 && CPU_COUNT(&processors) == 1;
	pin_init(&t);
	wanted_init(&t);
	t.stack = xmalloc(STACK_MAX);
	status = launch->pid ? launch_begin(&t) : attach_all(&t);
	if (!status && t.tasks.count) {
		for (;;) {
			serve(&t);
			if (t.finished)
				break;
			const struct stop stop = collect(&t);

			if (!act(&t, &stop))
				break;
		}
	} else if (status && t.tasks.count) {
		let_go(&t);
	}
	/* A task whose end was never told keeps its process; the trace is to be whole all the same. */
	for (struct process *p = t.processes; p && !t.finished; p = p->next) {
		calls_drop_all(p);
		output_end(p, NULL);
		output_report(p);
	}
	progress_end(&t);
	tracer_free(&t);
	if (!status)
		output_summary(&t);
	reports_free(&t);
	return status ? status : t.exit_status;
}
