#include "config.h"
#include "record/put_records.h"
#include "record/deferred.h"
#include "record/run.h"
#include "symbols/names/naming_worker.h"
#include "engine/engine.h"
#include "base/msg.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define MILLISECOND UINT64_C(1000000)
/* longest time for which the program is kept stopped while the names of a stack are looked up */
#define MOMENT_NS (20 * MILLISECOND)
/* If a trace ends while other tasks are traced: longest time for which these tasks are kept stopped while the trace's
 * names are looked up. After each trace whose names were not found in time, the time for the next trace is divided by
 * 4. */
#define END_NS        (700 * MILLISECOND)
#define LATE_ENDS_MAX 4
/* longest time for which all traces together wait for names after a request to detach */
#define LET_GO_NS (3000 * MILLISECOND)
#define SLICE_NS  (50 * MILLISECOND)
#define WORD_NS   (2000 * MILLISECOND) /* time after which functrace reports that it waits for names */

/* Returns the end of a message: advice about the error; "" if there is none. */
static const char *advice_after_error(int error)
{
	switch (-error) {
	case EPIPE:
	case ETIME:
		/* no advice: the reader has exited or does not read, and its user can see why */
		return "";
	case ENOSPC:
	case EDQUOT:
		return " Free space there, or give another place with -o.";
	case EFBIG:
		return " Raise the limit (ulimit -f), or give another place with -o.";
	default:
		return " Give another place with -o.";
	}
}

bool put_is_empty(const struct trace *trace)
{
	struct stat st;

	return trace->output.has_file && fstat(trace->output.fd, &st) == 0 && !st.st_size;
}

/* Marks the trace as broken, and reports the error. Sets run->has_broken, which makes functrace detach from the
 * process, because tracing it is useless if its trace cannot be written. */
void put_failed(struct trace *trace, int error)
{
	struct run *run = trace->run;

	if (trace->broken)
		return;
	trace->broken = true;
	/* The live view has exited, so functrace detaches from all processes anyway. */
	if (run->set->report.is_live && error == -EPIPE)
		return;
	run->has_broken = true;
	if (run->sums.broken_traces++ >= BROKEN_REPORTED)
		/* further broken traces are only counted, because a full disk can break hundreds */
		return;
	if (error == -ETIME) {
		msg_error("the end of the trace of process %d is missing, because nothing reads %s. The part that was "
			  "written before is complete.",
			  trace->pid, trace->output.path);
		return;
	}
	msg_error("the trace of process %d can no longer be written to %s: %s. %s%s%s", trace->pid, trace->output.path,
		  strerror(-error), trace->has_ended ? "" : "The process goes on untraced. ",
		  put_is_empty(trace) ? "The file is empty." : "The part that was written before can be read.",
		  advice_after_error(error));
}

static void write_record(struct trace *trace, const struct record *record)
{
	if (!trace->output.writer || trace->broken)
		return;
	const int error = writer_put(trace->output.writer, record);

	if (error < 0)
		put_failed(trace, error);
}

/* ---- Deferred records ---- */

static void put_named_records(struct trace *trace, const struct record *record, struct named_address *const *names)
{
	const size_t count = names ? record->call.frame_count : 0;

	if (names)
		naming_show(trace->output.naming, names, count);
	trace->counts.unnamed_stacks += names && !naming_is_known(names, count);
	write_record(trace, record);
}

/* Writes the first record of the queue. */
static void put_first(struct trace *trace)
{
	struct named_address *const *names;
	const struct record *const record = deferred_first(trace->output.deferred, &names);

	put_named_records(trace, record, names);
	deferred_drop(trace->output.deferred);
}

static bool is_first_ready(const struct trace *trace)
{
	struct named_address *const *names;
	const struct record *const record = deferred_first(trace->output.deferred, &names);

	return record && (!names || naming_is_known(names, record->call.frame_count));
}

static void end_queue(struct trace *trace)
{
	deferred_free(trace->output.deferred);
	trace->output.deferred = NULL;
}

void put_ready(struct trace *trace)
{
	if (trace->output.naming)
		naming_take(trace->output.naming);
	if (!trace->output.deferred) {
		if (trace->output.naming)
			naming_is_over(trace->output.naming);
		return;
	}
	while (deferred_has_older(trace->output.deferred) && is_first_ready(trace))
		put_first(trace);
	if (!deferred_has_older(trace->output.deferred) && !deferred_is_marked(trace->output.deferred))
		end_queue(trace);
}

/* Writes the queued records that precede the mark (deferred_mark()) or, without a mark, all queued records, even if
 * their names are not known yet. */
static void put_older(struct trace *trace)
{
	while (deferred_has_older(trace->output.deferred))
		put_first(trace);
}

static void put_all_records(struct trace *trace)
{
	if (!trace->output.deferred)
		return;
	deferred_unmark(trace->output.deferred);
	put_older(trace);
	end_queue(trace);
}

/* Looks up the names of a call's frames. Returns true if they are known. If the queue is empty, waits a moment for the
 * names, because a short wait costs less than queueing the call. */
static bool find_names(struct trace *trace, const struct record *record, struct named_address **names)
{
	struct naming *const naming = trace->output.naming;
	const struct record_call *const call = &record->call;
	const bool is_first = !trace->output.deferred && !naming_is_waiting(naming);

	if (naming_ask(naming, call->frames, call->frame_count, names))
		return true;
	return is_first && naming_wait(naming, MOMENT_NS);
}

void put_record(struct trace *trace, const struct record *record)
{
	struct named_address *found[MAX_FRAMES], **names = NULL;
	bool is_ready = true;

	if (!trace->output.writer || trace->broken)
		return;
	put_ready(trace);
	if (trace->output.naming && record->type == RECORD_CALL && record->call.frame_count <= MAX_FRAMES) {
		names = found;
		is_ready = find_names(trace, record, names);
	}
	if (!is_ready && !trace->output.deferred)
		trace->output.deferred = deferred_new();
	if (trace->output.deferred && deferred_keep(trace->output.deferred, record, names, false))
		return;
	put_all_records(trace);
	put_named_records(trace, record, names);
}

void put_record_now(struct trace *trace, const struct record *record)
{
	put_ready(trace);
	if (trace->output.deferred && deferred_has_older(trace->output.deferred)) {
		if (deferred_keep(trace->output.deferred, record, NULL, true))
			return;
		put_older(trace);
	}
	write_record(trace, record);
}

void put_defer(struct trace *trace)
{
	if (!trace->output.deferred && trace->output.writer)
		trace->output.deferred = deferred_new();
	if (trace->output.deferred && !deferred_is_marked(trace->output.deferred))
		deferred_mark(trace->output.deferred);
}

bool put_is_deferring(const struct trace *trace)
{
	return trace->output.deferred && deferred_is_marked(trace->output.deferred);
}

void put_undefer(struct trace *trace)
{
	if (trace->output.deferred)
		deferred_unmark(trace->output.deferred);
	put_ready(trace);
}

/* ---- At the end ---- */

static bool put_is_let_go(const struct run *run)
{
	struct pollfd fd = {.fd = *engine_let_go_fd(run->engine), .events = POLLIN};

	return poll(&fd, 1, 0) > 0;
}

/* Returns true if functrace should wait longer for the names of a trace that ends. */
static bool has_patience(struct run *run, bool has_other_tasks, uint64_t waited)
{
	if (has_other_tasks)
		return waited < END_NS >> 2 * run->naming.late_ends;
	if (!put_is_let_go(run))
		return true;
	run->naming.waited_let_go_ns += SLICE_NS;
	return run->naming.waited_let_go_ns <= LET_GO_NS;
}

static void wait_for_names(struct trace *trace, bool has_other_tasks)
{
	struct run *const run = trace->run;
	const uint64_t began = clock_ns(CLOCK_MONOTONIC);
	bool has_said = false;

	while (trace->output.deferred) {
		const uint64_t waited = clock_ns(CLOCK_MONOTONIC) - began;

		if (!has_patience(run, has_other_tasks, waited))
			break;
		if (!has_said && waited >= WORD_NS)
			msg_info("tracing has ended, but functions' names are still looked up, because reading a file "
				 "takes long; 'kill %d' ends functrace without these names",
				 engine_visible(run->engine));
		has_said |= waited >= WORD_NS;
		naming_wait(trace->output.naming, SLICE_NS);
		put_ready(trace);
	}
	if (trace->output.deferred && has_other_tasks && run->naming.late_ends < LATE_ENDS_MAX)
		run->naming.late_ends++;
	else if (!trace->output.deferred)
		run->naming.late_ends = 0;
}

void put_finish(struct trace *trace, bool has_other_tasks)
{
	put_undefer(trace);
	if (trace->output.deferred)
		wait_for_names(trace, has_other_tasks);
	put_all_records(trace);
}
