#include "config.h"
#include "tracer/tracer.h"
#include "tracer/act.h"
#include "tracer/attach.h"
#include "tracer/ends.h"
#include "tracer/forks.h"
#include "tracer/letgo.h"
#include "tracer/process.h"
#include "tracer/start.h"
#include "calls/pin.h"
#include "calls/probes.h"
#include "record/ledger.h"
#include "record/output.h"
#include "record/progress.h"
#include "record/report.h"
#include "record/trace_file.h"
#include "record/run.h"
#include "ptrace/collect.h"
#include "base/msg.h"

#include <stdlib.h>
#include <string.h>

/* The tracer's thread: collect, act, and what the visible process asks for. */

/* A trace ends with a pause, and what follows has another one. */
static void trace_again(struct trace *trace)
{
	trace->reported = false;
	ledger_free(trace);
	ledger_init(trace);
	memset(&trace->counts, 0, sizeof(trace->counts));
	free(trace->path);
	trace->path = NULL;
	trace->attached = true;
}

static void toggle(struct tracer *t)
{
	struct process *failed;

	for (struct process *p = t->processes; p; p = p->next)
		process_own(p);
	t->run->paused = !t->run->paused;
	pin_undo(t);
	for (struct process *p = t->processes; p; p = p->next) {
		if (t->run->paused) {
			process_pause(p, "paused");
			process_report(p);
		} else {
			trace_again(p->trace);
		}
	}
	if (!t->run->paused)
		processes_start(t, &failed);
	msg_info("tracing is %s", t->run->paused ? "paused" : "on");
}

static void serve(struct tracer *t)
{
	const unsigned requests = engine_take_requests(t->engine);

	if (requests & REQUEST_TICK) {
		output_flush_all(t->run);
		pin_tick(t);
		progress_show(t->run);
	}
	if (requests & REQUEST_TOGGLE)
		toggle(t);
	if (requests & REQUEST_LET_GO)
		let_go(t);
	else if (t->run->has_broken || t->may_let_go)
		let_go_broken(t);
}

static void trace_all(struct tracer *t)
{
	for (;;) {
		serve(t);
		if (t->finished)
			return;
		const struct stop stop = collect(t);

		if (!act(t, &stop))
			return;
	}
}

static void tracer_free(struct tracer *t)
{
	struct task *task;

	/* Tasks that were let go of. */
	for (size_t i = 0; (task = tasks_next(t, &i)); i = 0)
		task_forget(t, task, NULL);
	wanted_free(t->wanted);
	hash_free(&t->tasks);
	free(t->stops.items);
	free(t->collector);
	free(t->spare_call);
	pin_free(t->pin);
	free(t->symbols_of);
}

int tracer_run(struct engine *engine, const struct settings *settings, struct launch *launch)
{
	struct run run = {
		.set = settings, .engine = engine, .is_launch = launch->pid, .paused = settings->start_paused};
	struct tracer t = {.set = settings,
			   .engine = engine,
			   .launch = launch,
			   .run = &run,
			   .collector = collector_new(),
			   .pin = pin_new(),
			   .wanted = wanted_new(settings)};
	const int status = launch->pid ? launch_begin(&t) : attach_all(&t);

	if (t.tasks.count && !status)
		trace_all(&t);
	else if (t.tasks.count)
		let_go(&t);
	/* A task whose end was never reported keeps its process; the trace is to be whole all the same. */
	for (struct process *p = t.processes; p && !t.finished; p = p->next) {
		calls_drop_all(p);
		report_end(p->trace, NULL);
		process_report(p);
	}
	progress_end(&run);
	tracer_free(&t);
	if (!status)
		report_summary(&run);
	reports_free(&run);
	trace_files_free(&run.files);
	return status ? status : run.exit_status;
}
