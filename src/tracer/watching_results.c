#include "config.h"
#include "tracer/watching_state.h"
#include "engine/watch_settings.h"
#include "proc/proc.h"
#include "ptrace/tracee.h"
#include "record/run.h"
#include "watch/interval.h"
#include "base/background.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS_MAX 200 /* number of stacks in a result: all that grow or leak, and the largest others */

struct watching_result {
	struct background *work;
	struct watch *watch;
	struct watch_recent *recent;
	uint64_t now;
	struct watching_stacks *stacks;
	const struct watch_outputs *to;
	void *outputs;
	struct watch_interval interval;
	char host[256], *service, *program, *started_name, *build_id, *ending;
	double elapsed;     /* seconds */
	const char *folder; /* for the state; NULL: none */
	struct buf state;
};

/* Returns how much a stack is worth to be shown: all that grows or is lost comes before other live bytes. */
static int rank_of_stack(const struct watch_stack *stack)
{
	return stack->verdict == WATCH_GROWING ? 2 : stack->lost > 0 ? 1 : 0;
}

static int compare_ranks(const void *a, const void *b)
{
	const struct watch_stack *const one = a, *const other = b;

	if (rank_of_stack(one) != rank_of_stack(other))
		return rank_of_stack(other) - rank_of_stack(one);
	return (one->live < other->live) - (one->live > other->live);
}

static int compare_row_live(const void *a, const void *b)
{
	const struct watch_row *const one = a, *const other = b;

	return (one->estimate.live < other->estimate.live) - (one->estimate.live > other->estimate.live);
}

static void result_compute(void *context)
{
	struct watching_result *const r = context;
	struct watch_interval *const interval = &r->interval;
	struct watch_result *const estimate = watch_estimate(r->watch);

	watch_recent_apply(r->recent, r->now, estimate);
	double live = 0;

	for (size_t i = 0; i < estimate->count; i++) {
		live += estimate->stacks[i].live;
		interval->stacks += estimate->stacks[i].live > 0;
	}
	if (estimate->count)
		qsort(estimate->stacks, estimate->count, sizeof(*estimate->stacks), compare_ranks);
	struct watch_row *const rows = xcalloc(ROWS_MAX, sizeof(*rows));
	const double seen = interval->share * r->elapsed;

	while (interval->count < ROWS_MAX && interval->count < estimate->count) {
		struct watch_row *const row = &rows[interval->count];

		row->estimate = estimate->stacks[interval->count++];
		watching_stack_row(r->stacks, row->estimate.stack, row);
		row->allocated = seen > 0 ? row->allocated / seen : 0;
		row->calls = seen > 0 ? row->calls / seen : 0;
	}
	qsort(rows, interval->count, sizeof(*rows), compare_row_live);
	interval->rows = rows;
	if (interval->heap_bytes >= 0)
		interval->unattributed = interval->heap_bytes > live ? interval->heap_bytes - live : 0;
	watch_result_free(estimate);
	if (r->to && r->outputs)
		r->to->deliver(r->outputs, interval);
	free(rows);
	if (r->folder)
		watching_state_write(r->folder, interval->pid, &r->state, r->watch, r->stacks);
	buf_free(&r->state);
}

static const char *last_part(const char *path)
{
	const char *const slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Returns "has exited with status 0" of "process 12 has exited with status 0", which the caller frees. */
static char *ending_of(const char *how)
{
	static const char before[] = "process ";

	if (!strncmp(how, before, strlen(before))) {
		how += strlen(before);
		how += strspn(how, "0123456789 ");
	}
	return xstrdup(how);
}

static bool is_stopped_by_signal(const struct process *p)
{
	struct proc_stat stat;

	FOR_EACH_TASK(task, p)
		if (task->listening)
			return true;
	return proc_stat(p->pid, &stat) && stat.state == 'T';
}

static void fill_texts(const struct watching *one, struct watching_result *r, const char *how)
{
	const struct process *const p = one->p;
	const char *const service = p->tracer->set->watch.service;
	const char *const hex = p->program ? elf_file_build_id(p->program->file) : NULL;

	if (gethostname(r->host, sizeof(r->host) - 1))
		strcpy(r->host, "?");
	r->program = xstrdup(p->trace->origin.exe);
	r->started_name = xstrdup(p->trace->origin.name);
	r->service = xstrdup(service ? service : last_part(p->trace->origin.name));
	r->build_id = hex && *hex ? xstrdup(hex) : NULL;
	r->ending = how ? ending_of(how) : NULL;
}

static struct watch_cost cost_of(const struct watching *one, uint64_t elapsed_ns)
{
	const double elapsed = elapsed_ns ? (double)elapsed_ns : 1;

	return (struct watch_cost){.budget = one->p->tracer->set->watch.budget,
				   .target = (double)one->spent.target / elapsed,
				   .own = (double)watching_own_ns(one) / elapsed,
				   .longest_ns = one->spent.longest_ns};
}

/* Returns why no lost bytes are known; NULL: they are. */
static const char *why_lost_is_unknown(const struct watching_heap *heap)
{
	if (heap->has_first_lost && heap->lost >= 0)
		return NULL;
	if (heap->is_direct && heap->reason)
		return heap->reason;
	return heap->scan_reason ? heap->scan_reason : "the heap was not scanned yet";
}

static void start_result(struct watching *one, struct watching_result *r)
{
	one->result = r;
	r->work = background_begin_gently(result_compute, r);
}

void watching_result_begin(struct watching *one, void *outputs, bool is_last, const char *how)
{
	struct watching_result *const r = xcalloc(1, sizeof(*r));
	const uint64_t elapsed = clock_ns(CLOCK_MONOTONIC) - one->began, work = watching_work(one);
	const uint64_t wall = clock_ns(CLOCK_REALTIME);

	fill_texts(one, r, how);
	r->folder = one->p->tracer->set->trace.output;
	if (r->folder)
		watching_state_save(one, &r->state);
	r->watch = one->watch;
	r->recent = one->recent;
	r->now = clock_ns(CLOCK_MONOTONIC);
	r->stacks = one->stacks;
	r->to = one->p->tracer->set->watch.outputs;
	r->outputs = outputs;
	r->elapsed = (double)elapsed / 1e9;
	r->interval = (struct watch_interval){
		.host = r->host,
		.service = r->service,
		.program = r->program,
		.started_name = r->started_name,
		.build_id = r->build_id,
		.pid = one->p->pid,
		.process_start_ns = one->process_start,
		.began_ns = one->began_wall,
		.begin_ns = one->result_wall,
		.end_ns = wall,
		.is_last = is_last,
		.ending = r->ending,
		.is_stopped = is_stopped_by_signal(one->p),
		.way = one->p->tracer->uprobes ? "kernel" : "breakpoints",
		.cost = cost_of(one, elapsed),
		.windows = one->windows,
		.looks = one->looks,
		.share = work ? (double)one->work.in_windows / (double)work : 0,
		.calls = one->calls,
		.unseen = one->p->trace->counts.unrecorded,
		.reason = one->heap.is_known && !one->heap.is_direct ? NULL : one->heap.reason,
		.heap_bytes = one->heap.is_known ? one->heap.bytes : WATCH_UNKNOWN,
		.heap_blocks = one->heap.is_known ? one->heap.blocks : WATCH_UNKNOWN,
		.before = one->heap.is_known ? one->heap.first_bytes : WATCH_UNKNOWN,
		.unattributed = WATCH_UNKNOWN,
		.lost = one->heap.has_first_lost ? one->heap.lost : WATCH_UNKNOWN,
		.lost_reason = why_lost_is_unknown(&one->heap),
		.looked_ns = one->heap.looked_wall,
		.scanned_ns = one->heap.has_first_lost && one->heap.lost >= 0 ? one->heap.scanned_wall : 0,
	};
	one->result_wall = wall;
	if (one->result)
		one->last = r;
	else
		start_result(one, r);
}

bool watching_result_take(struct watching *one)
{
	struct watching_result *const r = one->result;

	if (!r)
		return true;
	if (!background_is_done(r->work))
		return false;
	background_end(r->work);
	free(r->service);
	free(r->program);
	free(r->started_name);
	free(r->build_id);
	free(r->ending);
	free(r);
	one->result = NULL;
	if (!one->last)
		return true;
	start_result(one, one->last);
	one->last = NULL;
	return false;
}
