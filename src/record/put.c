#include "config.h"
#include "record/put.h"
#include "record/deferred.h"
#include "record/run.h"
#include "base/msg.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* What to do next time. */
static const char *advice(int error)
{
	switch (-error) {
	case EPIPE:
	case ETIME:
		return ""; /* of its reader, who knows why */
	case ENOSPC:
	case EDQUOT:
		return " Make room there, or give another place with -o.";
	case EFBIG:
		return " Raise the limit (ulimit -f), or give another place with -o.";
	default:
		return " Give another place with -o.";
	}
}

/* Not even its beginning could be written. */
bool put_is_empty(const struct trace *trace)
{
	struct stat st;

	return trace->has_file && fstat(trace->fd, &st) == 0 && !st.st_size;
}

/* A trace that cannot be written any more is not worth a stop of the target. */
void put_failed(struct trace *trace, int error)
{
	struct run *run = trace->run;

	if (trace->broken)
		return;
	trace->broken = run->has_broken = true;
	if (run->broken_traces++ >= BROKEN_REPORTED)
		return; /* a full disk under a shell script's hundreds of processes: the summary says how many */
	if (error == -ETIME) {
		msg_error("the end of the trace of process %d is missing in %s, which nothing reads; what was written "
			  "before is readable.",
			  trace->pid, trace->path);
		return;
	}
	msg_error("the trace of process %d can no longer be written to %s: %s. %s%s%s", trace->pid, trace->path,
		  strerror(-error), trace->has_ended ? "Of its trace, " : "It goes on untraced; ",
		  put_is_empty(trace) ? "nothing was written." : "what was written before is readable.", advice(error));
}

void put_record_now(struct trace *trace, const struct record *record)
{
	if (!trace->writer || trace->broken)
		return;
	const int error = writer_put(trace->writer, record);

	if (error < 0)
		put_failed(trace, error);
}

void put_record(struct trace *trace, const struct record *record)
{
	if (trace->deferred && deferred_keep(trace->deferred, record))
		return;
	put_undefer(trace);
	put_record_now(trace, record);
}

static void write_deferred(void *context, const struct record *record)
{
	put_record_now(context, record);
}

void put_defer(struct trace *trace)
{
	if (!trace->deferred && trace->writer)
		trace->deferred = deferred_new();
}

void put_undefer(struct trace *trace)
{
	struct deferred *const deferred = trace->deferred;

	trace->deferred = NULL;
	if (deferred)
		deferred_end(deferred, write_deferred, trace);
}
