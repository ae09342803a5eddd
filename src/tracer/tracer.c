#include "config.h"
#include "tracer/tracer.h"
#include "tracer/watching.h"
#include "tracer/attach.h"
#include "tracer/begin_tracing.h"
#include "tracer/exit_captures.h"
#include "tracer/task_life.h"
#include "tracer/forks.h"
#include "tracer/kernel_events.h"
#include "tracer/letgo.h"
#include "tracer/leak_check.h"
#include "tracer/process.h"
#include "tracer/process_start.h"
#include "tracer/stop_pump.h"
#include "calls/abandoned_calls.h"
#include "calls/probes/chosen_libraries.h"
#include "calls/probes/function_patterns.h"
#include "calls/affinity/pin.h"
#include "calls/probes/probes.h"
#include "record/released_blocks.h"
#include "record/ledger.h"
#include "record/trace_output.h"
#include "record/progress.h"
#include "record/run_summary.h"
#include "record/string_pool.h"
#include "record/trace_file.h"
#include "record/run.h"
#include "record/run_probes.h"
#include "ptrace/collect.h"
#include "symbols/names/naming_worker.h"
#include "symbols/names/dwo_file.h"
#include "base/msg.h"
#include "base/timed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

/* The tracer's thread: takes and dispatches stops, and carries out the requests of the visible process. */

/* Resets the struct of a trace that ended when tracing was paused, for the process's next trace. */
static void trace_again(struct trace *trace)
{
	trace->reported = false;
	ledger_free(trace);
	ledger_init(trace);
	memset(&trace->counts, 0, sizeof(trace->counts));
	free(trace->output.path);
	trace->output.path = NULL;
	trace->origin.attached = true;
	trace->is_parting = false;
}

/* Prints the command that resumes tracing: it sends a signal to the visible process. */
static void report_pause(const struct tracer *t)
{
	msg_info("tracing is paused; kill -%s %d resumes it", t->set->target.toggle_name, engine_visible(t->engine));
}

static void toggle(struct tracer *t)
{
	pid_t failed;
	struct begun *begun;

	for (struct process *p = t->processes; p; p = p->next)
		process_own(p);
	if (!leak_check_at_detach(t))
		return;
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
	if (t->run->paused) {
		t->run->was_paused = true;
		report_pause(t);
		return;
	}
	t->run->was_resumed = true;
	begin_all(t, &failed, &begun);
	msg_info("tracing is on");
	begun_say(begun);
	begun_free(begun);
}

/* Checks all processes for leaks. Flushes the traces, because the user waits for the results. */
static void look_through_all(struct tracer *t)
{
	if (leak_check_now(t))
		output_flush_all(t->run);
}

#define MOMENT_NS 900000000u /* time in ns after the program's end in which report_waiting() prints nothing */

/* If processes outlive the launched program (a daemon), prints what functrace waits for. */
static void report_waiting(struct tracer *t)
{
	const int status = t->launch_status;
	struct task *task;
	size_t count = 0;
	char how[64];

	if (!t->waited_since || !t->tasks.count)
		return;
	if (clock_ns(CLOCK_MONOTONIC) - t->waited_since < MOMENT_NS) {
		engine_want_tick(t->engine);
		return;
	}
	t->waited_since = 0;
	for (size_t i = 0; (task = tasks_next(t, &i));)
		count += task->tid == task->tgid;
	if (WIFSIGNALED(status))
		snprintf(how, sizeof(how), "was killed by signal %d", WTERMSIG(status));
	else
		snprintf(how, sizeof(how), "has ended with status %d", WEXITSTATUS(status));
	msg_info("%s %s; %zu of its descendants %s still traced; Ctrl-C detaches functrace", t->set->target.argv[0],
		 how, count, count == 1 ? "is" : "are");
}

static void tracer_serve(struct tracer *t)
{
	const unsigned requests = engine_take_requests(t->engine);

	if (requests & REQUEST_READ)
		exit_captures_go_on(t);
	if (requests & REQUEST_TICK) {
		kernel_events_take(t);
		output_flush_all(t->run);
		pin_tick(t);
		progress_show(t->run);
		report_waiting(t);
	}
	if (requests & REQUEST_ALARM)
		watching_alarm(t);
	if (requests & REQUEST_SCAN)
		look_through_all(t);
	if (requests & REQUEST_TOGGLE)
		toggle(t);
	if (requests & REQUEST_LET_GO)
		let_go(t);
	else if (t->run->has_broken || t->may_let_go)
		let_go_broken(t);
}

/* Acts on requests and stops until nothing is left to trace. Looks for requests each time before it waits for a stop,
 * because tracer_serve() may collect the exit of the child by which the engine wakes the tracer for the next request
 * (engine.h). Then nothing else would wake the tracer for that request:
 *
 *	tracer: resumes, acts on stops | main thread: REQUEST_LET_GO, wakes | tracer: the child's exit; sleeps */
static void trace_all(struct tracer *t)
{
	for (;;) {
		tracer_serve(t);
		if (t->finished)
			return;
		if (engine_has_request(t->engine, REQUEST_ANY))
			continue;
		if (pump_once(t, &pump_waits).kind == STOP_NONE || !pump_goes_on(t))
			return;
	}
}

static void tracer_free(struct tracer *t)
{
	struct task *task;

	/* Tasks that were detached are still in the table, and are freed here. */
	for (size_t i = 0; (task = tasks_next(t, &i)); i = 0)
		task_forget(t, task, NULL);
	probe_spec_free(t->wanted);
	hash_free(&t->tasks);
	free(t->stops.items);
	free(t->collector);
	free(t->spare_call);
	pin_free(t->pin);
}

/* Launches or attaches. Returns the same values as tracer_run(). */
static int tracer_begin(struct tracer *t)
{
	dwo_files_begin();
	/* Create the other threads while this thread may still use every CPU, because a thread inherits its creator's
	 * CPUs (pin.c). */
	timed_begin(engine_let_go_fd(t->engine));
	const int error = trace_files_begin(t->run);

	if (error) {
		msg_error("the trace cannot be compressed: no thread could be started for it (%s). Try without -z",
			  strerror(-error));
		return 1;
	}
	if (t->set->watch.is_wanted && !watching_begin(t))
		return 1;
	return t->launch->pid ? launch_begin(t) : attach_all(t);
}

/* Returns 0 if a trace was begun. Otherwise prints a message. Then returns 0 if tracing was started paused and never
 * resumed, or if functrace was asked to detach and --duration was not given; else 1. For example, no trace is begun if
 * functrace attaches to a process during its execve, and then cannot trace the new program, or detaches before the
 * execve is over. */
static int report_nothing_begun(const struct tracer *t)
{
	if (t->run->sums.begun_traces)
		return 0;
	if (t->set->target.start_paused && !t->run->was_resumed) {
		msg_info("tracing was never resumed, so that there is no trace");
		return 0;
	}
	if (t->finished && !t->set->target.duration_ns) {
		msg_info("nothing was traced: functrace detached before a trace had begun");
		return 0;
	}
	msg_error("nothing was traced: no trace had begun when tracing ended");
	return 1;
}

int tracer_run(struct engine *engine, const struct settings *settings, struct launch *launch)
{
	struct run run = {.set = settings,
			  .engine = engine,
			  .paused = settings->target.start_paused,
			  .was_paused = settings->target.start_paused};
	struct tracer t = {.set = settings,
			   .engine = engine,
			   .launch = launch,
			   .run = &run,
			   .collector = collector_new(),
			   .pin = pin_new(),
			   .wanted = probe_spec_new(settings)};
	int status = kernel_events_open(&t) ? tracer_begin(&t) : 1;

	if (!status && run.paused && !settings->watch.is_wanted)
		report_pause(&t);
	if (t.tasks.count && !status)
		trace_all(&t);
	else if (t.tasks.count)
		let_go(&t);
	/* A process whose last exit was never reported is still in t.processes. Complete its trace. */
	for (struct process *p = t.processes; p && !t.finished; p = p->next) {
		exit_captures_finish(p);
		calls_drop_all(p);
		report_end(p->trace, NULL, false);
		process_report(p);
	}
	msg_keep(MESSAGES_KEPT);
	progress_end(&run);
	if (!status) {
		chosen_libraries_report(t.wanted);
		probe_spec_report(t.wanted);
		run.sums.unmatched_patterns = patterns_report(t.wanted);
	}
	watching_end(&t);
	tracer_free(&t);
	kernel_events_close(&t);
	if (!status && !settings->watch.is_wanted) {
		report_summary(&run);
		status = report_nothing_begun(&t);
	}
	reports_free(&run);
	functions_free(&run);
	run_probes_free(&run);
	interned_free(&run);
	namer_end(run.naming.namer);
	trace_files_free(&run.files);
	if (status || run.exit_status)
		return status ? status : run.exit_status;
	/* With a launched program, functrace's exit status is the program's, and this value only says that the traces
	 * are incomplete. */
	return run.sums.broken_traces || run.sums.unbegun_traces;
}
