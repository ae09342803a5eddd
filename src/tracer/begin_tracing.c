#include "config.h"
#include "tracer/begin_tracing.h"
#include "tracer/forks.h"
#include "tracer/leftovers.h"
#include "tracer/traced_capture.h"
#include "tracer/service.h"
#include "tracer/process_start.h"
#include "engine/engine.h"
#include "proc/proc.h"
#include "base/msg.h"

#include <errno.h>
#include <stdlib.h>

#define SHOWN_MAX 8 /* maximum number of processes that get a separate message */
/* Before functrace starts the next process, it acts on stops: for at most LEAST_NS or, if the previous start took
 * longer, for at most as long as that start. One of these stops may be the exit of the next process. */
#define LEAST_NS 1000000u

struct begun {
	struct baseline *items;
	size_t count, capacity;
};

/* Returns true if the process is to be started. Returns false for a process to which functrace could not attach as a
 * whole. Also returns false for a fork's child that borrows the tables of a process with breakpoints (forks.c), because
 * the child's text already has these breakpoints. */
static bool is_to_be_started(const struct process *p)
{
	const struct process *const lender = p->life->lender;

	return !p->life->was_started && !p->life->planted && !(lender && lender->life->planted) && !p->leaving &&
	       !p->life->uncompared && !p->trace->broken;
}

static struct process *next_to_start(struct tracer *t)
{
	struct process *next = NULL;

	for (struct process *p = t->processes; p; p = p->next)
		if (is_to_be_started(p) &&
		    (!next || (p->trace->origin.attached_to && !next->trace->origin.attached_to)))
			next = p;
	return next;
}

/* Starts the tracing of a process; the error is in life->start_error. If baselines are wanted, takes one, and adds its
 * result to `begun`. waited_ns: time for which tasks of other processes have waited while this process's files were
 * read. Returns false if no task is left to trace. */
static bool begin_one(struct process *p, uint64_t waited_ns, struct begun *begun)
{
	struct baseline baseline;

	if (!baseline_is_wanted(p->tracer)) {
		p->life->start_error = process_start_running(p);
		return true;
	}
	const bool goes_on = baseline_take(p, &baseline);

	if (waited_ns > baseline.stopped_ns)
		baseline.stopped_ns = waited_ns;
	if (baseline.is_taken) {
		ARRAY_GROW(begun->items, begun->capacity, begun->count);
		begun->items[begun->count++] = baseline;
	}
	return goes_on;
}

int begin_all(struct tracer *t, pid_t *failed, struct begun **result)
{
	struct begun *const begun = xcalloc(1, sizeof(*begun));
	struct service service;
	struct leftovers leftovers = {0};
	bool goes_on = true;
	struct process *p;
	int error = 0;

	for (p = t->processes; p; p = p->next) {
		p->life->was_started = false;
		process_own(p);
	}
	for (p = t->processes; p; p = p->next)
		p->anchor = 0; /* invalid now: the anchor runs on, and may exec, before the process is started */
	/* If detaching is requested, the remaining processes run on without breakpoints. */
	while (goes_on && !engine_has_request(t->engine, REQUEST_LET_GO) && (p = next_to_start(t))) {
		p->life->was_started = true;
		p->life->start_error = 0;
		process_ref(p);
		process_time_reads(t);
		service = service_begin(t);
		service_watch(&service);
		leftovers_look(p, &leftovers);
		service_unwatch();
		goes_on = begin_one(p, service_waited(&service), begun);
		/* If the process has ended before it was started, its error is ESRCH. */
		if (!p->life->planted && !p->life->start_error && !proc_live_thread(p->pid))
			p->life->start_error = -ESRCH;
		/* The end of a process is an error only if the user has named the process. */
		if (p->life->start_error && (p->life->start_error != -ESRCH || p->trace->origin.attached_to) &&
		    !error) {
			error = p->life->start_error;
			*failed = p->pid;
		}
		process_unref(p, NULL);
		/* After the last process, trace_all() acts on stops. */
		if (goes_on && next_to_start(t))
			goes_on = service_turn(&service, LEAST_NS);
	}
	leftovers_say(&leftovers);
	*result = begun;
	return error;
}

/* ---- Messages ---- */

static int begin_tracing_compare(const void *a, const void *b)
{
	const struct baseline *const one = a, *const other = b;

	return (one->stopped_ns < other->stopped_ns) - (one->stopped_ns > other->stopped_ns);
}

static void say_one(const struct baseline *baseline)
{
	char blocks[32], bytes[32], caught_up[CAUGHT_UP_SIZE];

	if (baseline->reason)
		msg_info("process %d was stopped for %.1f ms, but its blocks from before the trace are unknown: %s "
			 "(%u pause%s, %.1f ms in all). Attach again when it is less busy, or do without these blocks "
			 "(--no-baseline)",
			 baseline->pid, (double)baseline->stopped_ns / 1e6, baseline->reason, baseline->pauses,
			 baseline->pauses == 1 ? "" : "s", (double)baseline->paused_ns / 1e6);
	else
		msg_info("process %d was stopped for %.1f ms: it has %s block%s with %s byte%s from before the trace%s",
			 baseline->pid, (double)baseline->stopped_ns / 1e6, number_grouped(baseline->blocks, blocks),
			 baseline->blocks == 1 ? "" : "s", number_grouped(baseline->bytes, bytes),
			 baseline->bytes == 1 ? "" : "s", capture_caught_up(baseline->caught_up_ns, caught_up));
}

static void say_rest(const struct baseline *rest, size_t count)
{
	uint64_t blocks = 0, bytes = 0, caught_up_ns = 0;
	char blocks_text[32], bytes_text[32], caught_up[CAUGHT_UP_SIZE];
	size_t unknown = 0;

	for (size_t i = 0; i < count; i++) {
		blocks += rest[i].blocks;
		bytes += rest[i].bytes;
		unknown += rest[i].reason != NULL;
		caught_up_ns = rest[i].caught_up_ns > caught_up_ns ? rest[i].caught_up_ns : caught_up_ns;
	}
	msg_info("%zu more processes were stopped, each for %.1f ms at most: they have %s blocks with %s bytes from "
		 "before the trace%s",
		 count, (double)rest[0].stopped_ns / 1e6, number_grouped(blocks, blocks_text),
		 number_grouped(bytes, bytes_text), capture_caught_up(caught_up_ns, caught_up));
	if (unknown)
		msg_info("the blocks from before the trace are unknown for %zu of these processes", unknown);
}

void begun_say(struct begun *begun)
{
	const size_t shown = begun->count > SHOWN_MAX + 1 ? SHOWN_MAX : begun->count;

	if (begun->count)
		qsort(begun->items, begun->count, sizeof(*begun->items), begin_tracing_compare);
	for (size_t i = 0; i < shown; i++)
		say_one(&begun->items[i]);
	if (shown < begun->count)
		say_rest(begun->items + shown, begun->count - shown);
}

void begun_free(struct begun *begun)
{
	free(begun->items);
	free(begun);
}
