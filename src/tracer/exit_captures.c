/* Captures heaps at exit. The other threads of a process that ends are killed wherever they are. The kernel stops each
 * thread at its exit event, with the registers that the thread had, and frees the memory when the last thread is
 * resumed:
 *
 *     thread A: exit_group()    | B: runs
 *     A: EVENT_EXIT: registers  | B: killed, EVENT_EXIT: registers, memory; resumed: the memory is freed
 *
 * So functrace stores the registers of each thread at its exit event, and only the last thread stays stopped for the
 * capture.
 *
 * Processes are captured one after the other, so that only one copy exists at a time. Below, A and B are processes, and
 * "thread" is functrace's thread that copies and reads:
 *
 *	A's last task: EVENT_EXIT, waits | thread: copies and reads A | B: a hit, acted on | thread: REQUEST_READ |
 *	        A's trace is written, A is resumed | thread: copies and reads the next process
 *	A's last task: EVENT_EXIT, waits | thread: copies A | A: SIGKILL, gone | thread: A's memory cannot be read |
 *	        A's exit is reported: the tracer waits for the thread; the trace says why the leaks are unknown */
#include "config.h"
#include "tracer/exit_captures.h"
#include "tracer/capture_job.h"
#include "tracer/leak_check.h"
#include "calls/exiting.h"
#include "calls/affinity/pin.h"
#include "calls/probes/probes.h"
#include "engine/engine.h"
#include "ptrace/tasks.h"
#include "record/ledger.h"
#include "record/put_records.h"
#include "scan/capture/heap_capture.h"
#include "breakpoints/out_of_line_slots.h"
#include "base/background.h"

#include <stdatomic.h>
#include <stdlib.h>

struct end_reading {
	struct end_reading *next;
	struct process *p; /* the process, with a reference */
	pid_t tid;         /* the process's last task */
	bool with_lost, is_classified;
	struct engine *engine;
	struct background *thread; /* NULL: the capture has not begun */
	void (*work)(void *job);
	atomic_bool is_over; /* the thread's work is done */
	struct capture_job job;
};

static void exit_captures_run(void *context)
{
	struct end_reading *const reading = context;

	reading->work(&reading->job);
	atomic_store(&reading->is_over, true);
	engine_request(reading->engine, REQUEST_READ);
}

static void exit_captures_start(struct end_reading *reading, void (*work)(void *job))
{
	pin_gone(reading->p->tracer, reading->tid);
	reading->work = work;
	atomic_store(&reading->is_over, false);
	reading->thread = background_begin(exit_captures_run, reading);
}

static void start_first(struct tracer *t)
{
	if (t->end_readings && !t->end_readings->thread)
		exit_captures_start(t->end_readings, capture_job_copy_and_read);
}

static void exit_captures_end(struct end_reading *reading)
{
	struct process *const p = reading->p;
	struct task *const task = task_find(p->tracer, reading->tid);

	for (struct end_reading **link = &p->tracer->end_readings; *link; link = &(*link)->next)
		if (*link == reading) {
			*link = reading->next;
			break;
		}
	p->life->end_reading = NULL;
	(reading->with_lost ? leak_check_write : leak_check_write_figures)(p->trace, p->life->exit_capture,
									   reading->job.reason);
	heap_capture_free(p->life->exit_capture);
	p->life->exit_capture = NULL;
	free(reading);
	if (task) {
		slot_left(task);
		task_resume(task, 0);
	}
	start_first(p->tracer);
	process_unref(p, NULL);
}

/* Waits until the thread's work is done, and begins the next step: classifying, or writing the results. */
static void end_reading_next_step(struct end_reading *reading)
{
	struct process *const p = reading->p;

	background_end(reading->thread);
	reading->thread = NULL;
	if (reading->with_lost && !reading->is_classified) {
		reading->is_classified = true;
		if (leak_check_may_be_known(p->trace, p->life->exit_capture, reading->job.reason)) {
			exit_captures_start(reading, capture_job_classify);
			return;
		}
	}
	exit_captures_end(reading);
}

static void exit_captures_begin(struct task *last, bool with_lost)
{
	struct process *const p = last->process;
	struct end_reading *const reading = xcalloc(1, sizeof(*reading)), **link = &p->tracer->end_readings;

	reading->p = p;
	reading->tid = last->tid;
	reading->with_lost = with_lost;
	reading->engine = p->tracer->engine;
	reading->job = capture_job_by(p->life->exit_capture, last);
	process_ref(p);
	/* If a leak check has already begun, it has captured an earlier state, and is ended here. */
	ledger_end_scan(p->trace);
	put_undefer(p->trace);
	p->life->end_reading = reading;
	p->life->has_verdict = true;
	while (*link)
		link = &(*link)->next;
	*link = reading;
	start_first(p->tracer);
	if (p->leaving || p->tracer->letting_go)
		exit_captures_finish(p);
}

void exit_captures_go_on(struct tracer *t)
{
	while (t->end_readings && atomic_load(&t->end_readings->is_over))
		end_reading_next_step(t->end_readings);
}

void exit_captures_finish(struct process *p)
{
	while (p->life->end_reading) {
		if (!p->life->end_reading->thread)
			exit_captures_start(p->life->end_reading, capture_job_copy_and_read);
		end_reading_next_step(p->life->end_reading);
	}
}

/* Completes the process's capture if the task that has gone was stopped for the capture, or is the leader. The exits of
 * other threads may be reported earlier. The leader's exit is reported last, so the task of the capture is then gone,
 * too. If no capture was made, writes that the leaks are unknown: if SIGKILL ends a task's stop, the tracer may resume
 * the task from its exit event by mistake, and then recognises no task as the last one:
 *
 *	100: a hit | 101: exit() | 100: SIGKILL, exit event | here: 100 is resumed after its hit | 101: exit event */
void exit_captures_task_gone(const struct task *task)
{
	struct process *const p = task->process;

	if (p && p->life->end_reading && (p->life->end_reading->tid == task->tid || task->tid == task->tgid))
		exit_captures_finish(p);
	if (p && p->task_count == 1 && !p->life->has_verdict && leak_check_is_wanted(p) &&
	    (probes_count(p) || p->trace->origin.attached))
		leak_check_write(p->trace, NULL, "a thread of the process was killed before the leak check");
}

void exit_captures_finish_all(struct tracer *t)
{
	while (t->end_readings)
		exit_captures_finish(t->end_readings->p);
}

/* ---- When to begin ---- */

/* Adds a thread to the capture. If the thread has called exit(3), leaves out the frames of exit(), because they contain
 * old words of the calling function that the program never reads again. */
static void exit_captures_add_thread(struct heap_capture *capture, struct task *task)
{
	struct exit_caller caller;

	if (exiting_caller(task, &caller))
		heap_capture_add_exiting(capture, task, caller.sp, caller.words, caller.count);
	else
		heap_capture_add(capture, task);
}

bool exit_captures_task_ended(struct task *task, bool is_last)
{
	struct process *p = task->process;
	const bool is_wanted = p && leak_check_is_wanted(p);

	if (!p || !(is_wanted || leak_check_figures_are_wanted(p)))
		return false;
	/* If the process has no probe, its trace has no blocks. This does not mean that no block is lost. */
	if (!probes_count(p) && !p->trace->origin.attached) {
		if (is_last && is_wanted)
			leak_check_write(p->trace, NULL, "none of the functions to be traced was found in the process");
		p->life->has_verdict = is_last;
		return false;
	}
	if (!p->life->exit_capture)
		p->life->exit_capture = heap_capture_new();
	exit_captures_add_thread(p->life->exit_capture, task);
	if (!is_last)
		return false;
	heap_capture_limit(p->life->exit_capture, is_wanted ? 0 : leak_check_figures_limit(p));
	if (!is_wanted)
		heap_capture_blocks_only(p->life->exit_capture);
	exit_captures_begin(task, is_wanted);
	return true;
}
