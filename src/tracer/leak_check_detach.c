/* Leak checks of processes that continue: before functrace detaches from them or pauses, and on request. */
#include "config.h"
#include "tracer/exit_captures.h"
#include "tracer/kernel_events.h"
#include "tracer/traced_capture.h"
#include "tracer/leak_check.h"
#include "calls/probes/kernel_probes.h"
#include "base/msg.h"
#include "record/ledger.h"
#include "record/put_records.h"
#include "record/resident.h"
#include "record/run.h"
#include "scan/capture/heap_capture.h"
#include "breakpoints/breakpoints.h"

static bool has_trace(const struct process *p)
{
	return p->trace->output.writer && !p->trace->broken;
}

/* One purpose of a capture: which processes are captured, how, and which functions handle the copy and the results. */
struct aim {
	bool spares_sleepers, is_for_blocks;
	bool (*is_wanted)(const struct process *p);
	uint64_t (*limit)(const struct process *p); /* returns the largest size of a copy, in bytes; NULL: no limit */
	void (*copied)(struct process *p);          /* see struct capture_request */
	void (*was_read)(struct process *p);
	void (*put)(struct trace *trace, struct heap_capture *capture, const char *reason);
};

/* Queues the records of later calls until the leak check of the copy is written, because the leak check classifies the
 * blocks that were live when the copy was made. First writes the records that were queued since an earlier copy:
 *
 *	copy: a thread is inside malloc | A: malloc returns q, its event is queued | another copy: q is lost
 *	        The records queued since the first copy are written before the leak check of the second copy. */
static void scan_later(struct process *p)
{
	put_undefer(p->trace);
	put_defer(p->trace);
	ledger_scan_copied(p->trace);
}

/* Stops the tracing of new calls, because functrace is about to detach from the process, or to pause. Returns of calls
 * in flight are still seen. Called only when no other copy can follow, because all calls before another copy have to be
 * seen:
 *
 *	copy: a thread is inside malloc | free(p), unseen | B: malloc() = p, unseen | another copy: p is lost */
static void scan_was_last(struct process *p)
{
	p->trace->is_parting = true;
	kernel_events_take(p->tracer);
	kernel_probes_remove(p);
	text_about_to_change(p);
	breakpoints_remove_some(p, true, SIZE_MAX);
}

/* Does nothing, because the allocator's figures describe the copy, and calls after the copy do not change them. */
static void ignore_copied(struct process *p)
{
	(void)p;
}

static const struct aim aim_lost = {false, false, has_trace, NULL, scan_later, NULL, leak_check_write};
static const struct aim aim_lost_last = {false, false, has_trace, NULL, scan_later, scan_was_last, leak_check_write};
static const struct aim aim_figures = {true,          true, leak_check_figures_are_wanted, leak_check_figures_limit,
				       ignore_copied, NULL, leak_check_write_figures};

/* Returns true if a task of the process is not at its exit event. Otherwise exit_captures.c has written the leak
 * check. */
static bool goes_on(const struct process *p)
{
	FOR_EACH_TASK(task, p)
		if (!task->exit_event_seen)
			return true;
	return false;
}

/* ---- The length of pauses ---- */

#define SHOWN_MAX 4 /* maximum number of processes that get a separate message */

struct leak_check_detach_pause {
	pid_t pid;
	uint64_t ns, caught_up_ns;
};

struct pauses {
	size_t count;
	struct leak_check_detach_pause first[SHOWN_MAX];
	struct leak_check_detach_pause longest;
	uint64_t longest_caught_up_ns; /* maximum over all processes */
};

static void pauses_add(struct pauses *pauses, struct leak_check_detach_pause pause)
{
	if (pauses->count < SHOWN_MAX)
		pauses->first[pauses->count] = pause;
	if (pause.caught_up_ns > pauses->longest_caught_up_ns)
		pauses->longest_caught_up_ns = pause.caught_up_ns;
	if (!pauses->count++ || pause.ns > pauses->longest.ns)
		pauses->longest = pause;
	msg_debug(DBG_PROCESS, 1, "process %d was stopped for %.1f ms", pause.pid, (double)pause.ns / 1e6);
}

/* Prints a line for each process if there are at most SHOWN_MAX, otherwise one line for all. */
static void pauses_say(const struct pauses *pauses)
{
	char caught_up[CAUGHT_UP_SIZE];

	if (pauses->count > SHOWN_MAX) {
		msg_info("%zu processes were stopped, each while its memory was copied; the longest pause, of process "
			 "%d, took %.1f ms%s",
			 pauses->count, pauses->longest.pid, (double)pauses->longest.ns / 1e6,
			 capture_caught_up(pauses->longest_caught_up_ns, caught_up));
		return;
	}
	for (size_t i = 0; i < pauses->count; i++)
		msg_info("process %d was stopped for %.1f ms while its memory was copied%s", pauses->first[i].pid,
			 (double)pauses->first[i].ns / 1e6,
			 capture_caught_up(pauses->first[i].caught_up_ns, caught_up));
}

/* ---- Captures ---- */

static bool leak_check_detach_look_at(struct process *p, const struct aim *aim, struct pauses *pauses)
{
	const struct capture_request request = {
		.is_wanted = aim->is_wanted,
		.copied = aim->copied,
		.was_read = aim->was_read,
		/* Stop sleeping tasks, too, with -L: some functions of the allocator then have no breakpoints at which
		 * a task that wakes would stop. */
		.spares_sleepers = aim->spares_sleepers && !p->tracer->set->traced.library_count,
		.is_for_blocks = aim->is_for_blocks,
		.limit = aim->limit ? aim->limit(p) : 0,
	};
	const struct traced_capture capture = capture_consistent(p, &request);
	const uint64_t stopped_ns = capture.stopped_ns > capture.longest_ns ? capture.stopped_ns : capture.longest_ns;

	if (capture.heap_capture && goes_on(p)) {
		aim->put(p->trace, capture.heap_capture, capture.reason);
		if (capture.stopped_ns)
			pauses_add(pauses, (struct leak_check_detach_pause){p->pid, stopped_ns, capture.caught_up_ns});
	}
	ledger_end_scan(p->trace);
	put_undefer(p->trace);
	heap_capture_free(capture.heap_capture);
	return capture.goes_on;
}

static bool leak_check_detach_look_at_all(struct tracer *t, const struct aim *aim)
{
	struct pauses pauses = {0};
	struct process *p;
	bool is_any_left = true;

	exit_captures_finish_all(t);
	for (p = t->processes; p; p = p->next) {
		p->life->is_looked_through = false;
		resident_put(p->trace, process_proc_task(p));
	}
	do {
		for (p = t->processes; p && (p->life->is_looked_through || !goes_on(p) || !aim->is_wanted(p));
		     p = p->next)
			;
		if (!p)
			break;
		p->life->is_looked_through = true;
		process_ref(p);
		is_any_left = leak_check_detach_look_at(p, aim, &pauses);
		process_unref(p, NULL);
	} while (is_any_left);
	pauses_say(&pauses);
	exit_captures_finish_all(t);
	return is_any_left;
}

bool leak_check_now(struct tracer *t)
{
	return leak_check_detach_look_at_all(t, &aim_lost);
}

bool leak_check_at_detach(struct tracer *t)
{
	return t->run->paused ||
	       leak_check_detach_look_at_all(t, t->set->scan.is_traced ? &aim_lost_last : &aim_figures);
}
