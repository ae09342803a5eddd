#include "config.h"
#include "tracer/traced_capture.h"
#include "tracer/kernel_events.h"
#include "tracer/capture_job.h"
#include "tracer/leak_check.h"
#include "tracer/service.h"
#include "tracer/stop_pump.h"
#include "calls/backtrace.h"
#include "breakpoints/breakpoints.h"
#include "ptrace/pending_stops.h"
#include "scan/capture/heap_capture.h"
#include "scan/capture/snapshot.h"
#include "proc/proc.h"
#include "base/background.h"
#include "base/time_units.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define UNKNOWN_MAX     3             /* maximum number of copies if none contains a heap of a known allocator */
#define EARLY_MAX       8             /* maximum number of pauses without a copy because threads are in the C library */
#define COPIES_MAX      20            /* maximum number of copies, even if none was consistent */
#define RUN_NS          100000u       /* run time in which a thread leaves malloc, or comes to a hit */
#define RUN_MAX_NS      10000000u     /* longest wait for threads that get no CPU */
#define STOP_NS         20000u        /* time between two checks whether all tasks are stopped */
#define STOP_MAX_NS     200000000u    /* longest wait for a task, which may be deep in the kernel */
#define DELAYED_MAX_NS  2000000000u   /* longest wait for a task that waits for a CPU */
#define PAUSES_NS       NS_PER_SECOND /* total time of a process's pauses after which no copy is begun */
#define CATCH_UP_TIMES  5             /* maximum time to catch up after a pause, as a multiple of the pause */
#define CATCH_UP_MAX_NS 50000000u     /* a second limit of this time, in ns; the smaller limit applies */
#define SAID_NS         1000000u      /* shorter times are not reported */

static struct task *stopped_task(struct process *p)
{
	FOR_EACH_TASK(task, p)
		if (task_can_be_poked(task))
			return task;
	return NULL;
}

static struct task *any_task(struct process *p)
{
	FOR_EACH_TASK(task, p)
		if (task_has_memory(task))
			return task;
	return NULL;
}

static void spare_sleepers(struct process *p)
{
	FOR_EACH_TASK(task, p)
		task->skip_halt = task_would_see_eintr(task);
}

/* Clears skip_halt of all tasks. Returns a task that had it set, or NULL. */
static struct task *unspare(struct process *p)
{
	struct task *spared = NULL;

	FOR_EACH_TASK(task, p) {
		if (task->skip_halt && task_has_memory(task))
			spared = task;
		task->skip_halt = false;
	}
	return spared;
}

/* Returns the return address of a task that is stopped at a probe's entry, before the function's first instruction;
 * else 0. */
static uint64_t caller_at_entry(struct task *task)
{
	struct process *p = task->process;
	uint64_t caller;

	if (!task->stopped || task_regs(task) < 0)
		return 0;
	const struct breakpoint *const b =
		breakpoint_find(p, p->arch->breakpoint.hit_address(p->arch->registers.pc(&task->regs)));

	if (!b || !b->inserted || !b->probe || !task_hit_by_kernel(task))
		return 0;
	return stack_return_address(task, false, &caller) ? caller : 0;
}

/* ---- Letting threads run until they have left the allocator ---- */

/* Takes only the stops of tasks that were interrupted for the copy, so that these tasks run on. Other stops are acted
 * on later. */
static struct stop take_interrupt(struct tracer *t, void *context)
{
	struct stop stop;

	(void)context;
	return stops_take_interrupt(t, &stop) ? stop : (struct stop){.kind = STOP_NONE};
}

static bool let_go_on(struct tracer *t)
{
	return pump_all(t, &(struct stop_pump){.take = take_interrupt});
}

struct runner {
	pid_t tid;
	uint64_t ran_ns;
};

/* Returns true if the thread is runnable, and has run for less than RUN_NS since let_run() began. */
static bool is_held_up(const struct runner *runner)
{
	uint64_t ran_ns;

	return proc_is_runnable(runner->tid) && proc_run_time(runner->tid, &ran_ns) && ran_ns - runner->ran_ns < RUN_NS;
}

/* Lets threads run for `ns`, or longer if some of them wait for a CPU. */
static bool let_run(struct service *service, const struct process *p, uint64_t ns)
{
	struct runner *const runners = xcalloc(p->task_count + 1, sizeof(*runners));
	const uint64_t began = clock_ns(CLOCK_MONOTONIC);
	bool goes_on = true, is_any = true;
	size_t count = 0;

	FOR_EACH_TASK(task, p)
		if (!task->stopped && proc_run_time(task->tid, &runners[count].ran_ns))
			runners[count++].tid = task->tid;
	while (goes_on && is_any && clock_ns(CLOCK_MONOTONIC) - began < RUN_MAX_NS) {
		goes_on = service_for(service, ns);
		is_any = false;
		for (size_t i = 0; i < count && !is_any; i++)
			is_any = is_held_up(&runners[i]);
	}
	free(runners);
	return goes_on;
}

/* ---- One capture ---- */

static const char not_stopped[] = "no thread of the process could be stopped";

struct traced_capture_attempt {
	struct process *p;
	const struct capture_request *request;
	struct service service;
	struct traced_capture *capture;
	struct capture_job job;
	unsigned early;  /* number of pauses without a copy */
	unsigned copies; /* number of copies that were read */
	bool is_read;
	/* the process makes traced calls all the time, so work that the pause delayed cannot be distinguished from
	 * other work */
	bool is_never_silent;
};

static bool traced_capture_make(struct traced_capture_attempt *l, struct background *work)
{
	return l->capture->goes_on = service_during(&l->service, work);
}

/* Acts on the queued stops of the process's tasks. Returns the time, in ns, for which the tasks could not run. */
static uint64_t traced_capture_release(struct traced_capture_attempt *l)
{
	const uint64_t held = service_release(&l->service);

	l->capture->paused_ns += held;
	l->capture->stopped_ns = held > l->capture->stopped_ns ? held : l->capture->stopped_ns;
	l->capture->goes_on &= pump_goes_on(l->service.t);
	return held;
}

/* Acts on stops until the program has done the work that the pause delayed. Clients of the program wait for this work.
 * The thread that reads the copy would take a CPU from the program, so the caller starts that thread afterwards. */
static void traced_capture_catch_up(struct traced_capture_attempt *l, uint64_t held_ns)
{
	uint64_t took;

	if (!l->capture->goes_on || l->is_never_silent || engine_has_request(l->p->tracer->engine, REQUEST_LET_GO))
		return;
	l->capture->goes_on = service_catch_up(
		&l->service, l->p,
		held_ns < CATCH_UP_MAX_NS / CATCH_UP_TIMES ? held_ns * CATCH_UP_TIMES : CATCH_UP_MAX_NS, &took);
	l->is_never_silent = took == NEVER_SILENT;
	if (took > l->capture->caught_up_ns)
		l->capture->caught_up_ns = took;
}

/* Returns true if the task runs, or is in a group-stop, in which its registers cannot be read. */
static bool is_to_stop(const struct task *task)
{
	return task_has_memory(task) && (task_can_be_stopped(task) || task->listening);
}

static bool is_any_moving(const struct process *p)
{
	FOR_EACH_TASK(task, p)
		if (is_to_stop(task))
			return true;
	return false;
}

/* Returns true if each task that has not stopped yet sleeps in the kernel. A task that waits for a CPU is no sleeper:
 * it stops when it gets a CPU. */
static bool only_sleepers_are_moving(const struct process *p)
{
	FOR_EACH_TASK(task, p)
		if (is_to_stop(task) && proc_is_runnable(task->tid))
			return false;
	return true;
}

/* Interrupts all running tasks, except sleepers if the request spares them, and waits a limited time for their stops.
 * The stops are queued, and the tasks stay stopped until the tracer acts on these stops. Returns a task through which
 * the memory can be read, or NULL. */
static struct task *stop_all(struct traced_capture_attempt *l)
{
	struct process *const p = l->p;
	const uint64_t began = clock_ns(CLOCK_MONOTONIC);

	if (l->request->spares_sleepers)
		spare_sleepers(p);
	FOR_EACH_TASK(task, p)
		if (is_to_stop(task))
			task->interrupted = task_interrupt(task);
	while (l->capture->goes_on && is_any_moving(p)) {
		const uint64_t waited = clock_ns(CLOCK_MONOTONIC) - began;

		if (waited >= DELAYED_MAX_NS || (waited >= STOP_MAX_NS && only_sleepers_are_moving(p)))
			break;
		l->capture->goes_on = service_for(&l->service, STOP_NS);
	}
	/* If no other task is stopped, the memory is read through a task that was not interrupted. */
	struct task *const task = stopped_task(p);
	struct task *const spared = unspare(p);

	return task ? task : spared;
}

/* Returns the time in ns for which the tasks run before the next pause: 0.5 to 3.5 ms. */
static uint64_t time_between(unsigned pause)
{
	return snapshot_wait(500000, 500000, pause);
}

/* Stops all tasks. If the request has is_early, tries to do so while no task is changing the heap: if a task may be
 * changing the heap, lets the interrupted tasks run on for a moment and stops them again, up to EARLY_MAX times. A task
 * that comes to a hit meanwhile is not inside the allocator, and stays stopped. Returns a task through which the memory
 * can be read; NULL if there is none. */
static struct task *stop_at_rest(struct traced_capture_attempt *l)
{
	for (unsigned pause = l->capture->pauses++;; pause = l->capture->pauses++) {
		service_count_hold(&l->service);
		struct task *const task = stop_all(l);

		if (!l->request->is_early || l->early >= EARLY_MAX || !l->request->is_early(l->p))
			return task;
		l->early++;
		l->capture->goes_on = let_go_on(l->service.t) && let_run(&l->service, l->p, time_between(pause));
		if (!l->capture->goes_on || !l->p->tasks)
			return NULL;
	}
}

/* Stops the tasks and makes one copy. Returns false if that failed. */
static bool copy_once(struct traced_capture_attempt *l)
{
	struct task *const task = stop_at_rest(l);

	if (task) {
		FOR_EACH_TASK(other, l->p)
			if (task_has_memory(other))
				heap_capture_add_alive(l->capture->heap_capture, other, caller_at_entry(other));
		l->job = capture_job_by(l->capture->heap_capture, task);
		traced_capture_make(l, background_begin(capture_job_copy, &l->job));
		l->capture->reason = l->job.reason;
	}
	l->capture->goes_on &= let_go_on(l->service.t);
	/* If no thread was stopped, the time for which functrace waited is not a pause. */
	if (!task) {
		l->capture->reason = not_stopped;
		l->service.held_since = 0;
		return false;
	}
	const uint64_t stopped = clock_ns(CLOCK_MONOTONIC) - l->service.held_since;

	l->capture->stopped_ns = stopped > l->capture->stopped_ns ? stopped : l->capture->stopped_ns;
	return !l->capture->reason;
}

/* Reads the copy. Returns true if this copy is unusable, but another copy may be usable; the caller then makes one. */
static bool read_copy(struct traced_capture_attempt *l)
{
	traced_capture_make(l, background_begin_gently(capture_job_read, &l->job));
	l->is_read = true;
	l->capture->reason = l->job.reason;
	l->copies++;
	if (l->capture->reason)
		return l->job.is_passing &&
		       (!heap_capture_is_unknown(l->capture->heap_capture) || l->copies < UNKNOWN_MAX);
	if (!heap_capture_is_locked(l->capture->heap_capture))
		return false;
	l->capture->reason = "a thread was inside malloc in every copy";
	return true;
}

/* Makes a copy and reads it. Returns true if another copy is to be made. */
static bool try_once(struct traced_capture_attempt *l)
{
	if (!copy_once(l))
		return false;
	/* The tasks are stopped, so these are all calls before the copy. */
	kernel_events_take(l->p->tracer);
	l->request->copied(l->p);
	traced_capture_catch_up(l, traced_capture_release(l));
	return l->capture->goes_on && read_copy(l);
}

/* Makes copies until one is consistent. A scan of an untraced process has a loop of its own, read_heap() in scan.c,
 * because only heap_status_is_passing() and snapshot_wait() are the same for both:
 *
 *	                      a traced process                    a scan
 *	a thread in malloc    runs on between two pauses          runs on in the pause (leave_allocator.h)
 *	between two copies    stops are acted on, after which     functrace sleeps
 *	                      a copy may no longer be wanted
 *	a lock is held        the copy is not used                the copy is used after LOCKED_MAX others
 *	limits                COPIES_MAX; total time of pauses    COPIES_MAX; 2 if a signal has stopped the process
 *	no copy is usable     a constant text for the trace       a message with the address, and advice
 */
static void try_until_read(struct traced_capture_attempt *l)
{
	const unsigned copies_max = l->request->copies_max ? l->request->copies_max : COPIES_MAX;

	while (try_once(l) && l->capture->goes_on) {
		if (l->copies >= copies_max || l->capture->paused_ns >= PAUSES_NS)
			return;
		heap_capture_again(l->capture->heap_capture);
		l->is_read = false;
		/* Act on stops before the next copy, so that a task that a signal has stopped inside malloc can leave
		 * malloc. */
		if (!l->capture->goes_on || !service_for(&l->service, time_between(l->copies)) || !l->p->tasks ||
		    !l->request->is_wanted(l->p))
			return;
		service_hold(&l->service, l->p);
		service_count_hold(&l->service);
		l->capture->goes_on = let_run(&l->service, l->p, time_between(l->copies));
		if (!l->capture->goes_on || !l->p->tasks)
			return;
	}
}

static bool traced_capture_begin(struct traced_capture_attempt *l)
{
	struct task *const running = any_task(l->p);

	if (!running) {
		l->capture->reason = not_stopped;
		return false;
	}
	l->job = capture_job_by(l->capture->heap_capture, running);
	traced_capture_make(l, background_begin_gently(capture_job_warm, &l->job));
	l->capture->reason = l->job.reason;
	if (l->capture->reason || !l->capture->goes_on || !any_task(l->p))
		return false;
	service_hold(&l->service, l->p);
	if (!l->request->begin)
		return true;
	service_watch(&l->service);
	const bool goes_on = l->request->begin(l->p);

	service_unwatch();
	return goes_on;
}

const char *capture_caught_up(uint64_t ns, char text[CAUGHT_UP_SIZE])
{
	*text = '\0';
	if (ns == NEVER_SILENT)
		snprintf(text, CAUGHT_UP_SIZE,
			 ". The process was never idle after that, so the time to catch up is unknown");
	else if (ns >= SAID_NS)
		snprintf(text, CAUGHT_UP_SIZE, ". Catching up with the delayed work took %.1f ms more",
			 (double)ns / 1e6);
	return text;
}

struct traced_capture capture_consistent(struct process *p, const struct capture_request *request)
{
	struct traced_capture capture = {.goes_on = true};
	struct traced_capture_attempt l = {
		.p = p, .request = request, .service = service_begin(p->tracer), .capture = &capture};

	capture.heap_capture = heap_capture_new();
	heap_capture_limit(capture.heap_capture, request->limit);
	if (request->is_for_blocks)
		heap_capture_blocks_only(capture.heap_capture);
	if (traced_capture_begin(&l) && p->tasks && request->is_wanted(p))
		try_until_read(&l);
	if (l.is_read && capture.goes_on && p->tasks && request->was_read)
		request->was_read(p);
	if (l.is_read && capture.goes_on && p->tasks && !request->is_for_blocks &&
	    leak_check_may_be_known(p->trace, capture.heap_capture, capture.reason)) {
		traced_capture_make(&l, background_begin_gently(capture_job_classify, &l.job));
		capture.reason = l.job.reason;
	}
	traced_capture_release(&l);
	capture.longest_ns = l.service.longest_ns;
	if (!capture.reason && !l.is_read) {
		heap_capture_free(capture.heap_capture);
		capture.heap_capture = NULL;
	}
	return capture;
}
