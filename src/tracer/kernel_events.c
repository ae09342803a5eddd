#include "config.h"
#include "tracer/kernel_events.h"
#include "tracer/forks.h"
#include "tracer/process.h"
#include "calls/forgotten_returns.h"
#include "calls/kernel_calls.h"
#include "record/run.h"
#include "record/run_probes.h"
#include "record/trace_output.h"
#include "breakpoints/breakpoints.h"
#include "ptrace/tasks.h"
#include "uprobe/uprobes.h"
#include "base/msg.h"

#include <signal.h>

_Static_assert(KERNEL_DEPTH_MAX + KERNEL_FRAMES_MORE <= UPROBE_FRAMES_MAX, "records have room for the stacks");

/* Its default action is to be ignored, so it does no harm if functrace ends before it takes the signal. */
#define FULL_SIGNAL SIGURG

/* Returns why the options need breakpoints; NULL: they do not. */
static const char *why_breakpoints(const struct settings *set)
{
	if (set->calls.args)
		return "-a needs breakpoints";
	if (set->calls.unwinder != UNWIND_ROWS)
		return "--unwinder=libunwind needs breakpoints";
	return set->calls.depth > KERNEL_DEPTH_MAX ? "stacks of more than 69 frames need breakpoints" : NULL;
}

bool kernel_events_open(struct tracer *t)
{
	const struct uprobes_options options = {.ring_size = t->set->traced.ring_mib << 20,
						.frames = t->set->calls.depth + KERNEL_FRAMES_MORE,
						.entry_stacks = t->set->calls.backtrace_all,
						.signal = FULL_SIGNAL};
	const char *const needed = why_breakpoints(t->set);
	char why[1024];

	if (t->set->traced.probes == PROBES_BREAKPOINTS)
		return true;
	if (!needed)
		t->uprobes = uprobes_open(&options, why, sizeof(why));
	if (t->uprobes)
		t->take_events = kernel_events_take;
	else if (t->set->traced.probes == PROBES_AUTO)
		run_probes_missing(t->run, needed ? needed : why);
	else
		msg_error("--probes=kernel is not possible: %s", needed ? needed : why);
	return t->uprobes || t->set->traced.probes == PROBES_AUTO;
}

static void act_on_record(struct tracer *t, const struct uprobe_record *record)
{
	struct task *const task = task_find(t, (pid_t)record->tid);

	/* The records of a traced task are read before its end is acted on. Others are of a child that was detached. */
	if (!task || !task->process)
		return;
	if (task->process->life->lender)
		process_own(task->process);
	kernel_call(task, record);
}

static struct process *process_of_group(struct tracer *t, pid_t tgid)
{
	const struct task *const task = task_of_group(t, tgid);

	return task ? task->process : NULL;
}

/* Counts lost records in the traces of their processes. */
static void count_lost(struct tracer *t)
{
	struct uprobe_lost_key key;
	struct uprobe_lost sum;

	while (uprobe_take_lost(t->uprobes, &key, &sum)) {
		struct process *const p = process_of_group(t, (pid_t)key.tgid);
		const struct breakpoint *const b = p ? breakpoint_find(p, key.address) : NULL;
		struct counts *const counts = p ? &p->trace->counts : &t->run->sums.totals;

		counts->unrecorded += sum.records;
		if (p)
			p->trace->origin.may_miss = true;
		if (b && b->probe)
			output_note(p->trace,
				    "lost: %llu calls of %s, %llu bytes: functrace read the kernel's records "
				    "too slowly",
				    (unsigned long long)sum.records, b->probe->traced.shown,
				    (unsigned long long)sum.bytes);
	}
}

size_t kernel_events_take(struct tracer *t)
{
	const struct uprobe_record *record;

	if (!t->uprobes)
		return 0;
	const uint64_t begin = uprobe_ring_position(t->uprobes), end = uprobe_ring_end(t->uprobes);
	const uint64_t lost = uprobe_counters(t->uprobes)->lost;

	/* First, because a release whose allocation was lost is no double one. */
	if (lost != t->records_lost) {
		t->records_lost = lost;
		count_lost(t);
	}
	while ((record = uprobe_ring_next(t->uprobes, end))) {
		act_on_record(t, record);
		uprobe_ring_done(t->uprobes);
	}
	return uprobe_ring_position(t->uprobes) - begin;
}

bool kernel_events_own_signal(struct task *task, int sig)
{
	siginfo_t info;

	if ((sig != FULL_SIGNAL && sig != SIGILL && sig != SIGSYS) || !task->process ||
	    !task->process->tracer->uprobes || !task_siginfo(task->tid, &info) || info.si_code <= 0)
		return false;
	if (sig == FULL_SIGNAL)
		return info.si_code == SI_KERNEL && uprobe_sent_signal(task->process->tracer->uprobes, task->tid);
	return (sig == SIGSYS || info.si_code == SI_KERNEL) && forgotten_return_repair(task, info.si_code);
}

void kernel_events_close(struct tracer *t)
{
	if (!t->uprobes)
		return;
	count_lost(t);
	t->run->sums.totals.unrecorded += uprobe_counters(t->uprobes)->unknown_lost;
	msg_debug(DBG_BREAKPOINT, 1, "kernel probes: %llu stacks were copied, %llu returns had no entry",
		  (unsigned long long)uprobe_counters(t->uprobes)->copies,
		  (unsigned long long)uprobe_counters(t->uprobes)->unmatched);
	uprobes_close(t->uprobes);
	t->uprobes = NULL;
}
