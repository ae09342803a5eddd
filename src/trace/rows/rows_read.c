/* Reads rows: the lines of JSON that a watch writes, and functrace-postproc -f rows (src/export/row_line.h), or that a
 * database returns for such rows. A line becomes several records: the process if it is another one than in the line
 * before, its objects, and the estimate of a stack or the end of an interval. */
#include "config.h"
#include "trace/rows/rows_read.h"
#include "trace/reader_state.h"
#include "base/time_units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LINE_LONGEST    (16u << 20)
#define KINDS_MAX       64
#define STALE_INTERVALS 2 /* a process that has had no rows for more intervals is taken as no longer watched */

/* A process, or a run of one: see split_key_of() of src/analysis/select/split.c. */
struct rows_process {
	char *host, *command;
	uint64_t pid, start;
	struct rows_objects objects;
	size_t declared; /* number of objects that were declared */
	char *kinds[KINDS_MAX];
	size_t kind_count;
	uint64_t day;      /* midnight before its first interval, in ns since the Epoch */
	uint64_t interval; /* end of the interval whose lines come now; 0: its end was passed on */
	/* the record of the end of the latest interval that has a line of the scope "interval" */
	struct record_interval end;
	uint64_t latest; /* end of the latest interval */
	uint64_t length; /* of the longest interval, in ns; 0: unknown */
	uint32_t open_kind;
};

struct rows_reader {
	struct rows_line line;
	struct rows_stack stack;
	struct rows_process **processes;
	size_t count, capacity;
	struct hash by_name;          /* hash of the process's names, or a number after it -> 1 + index */
	struct rows_process *current; /* the process of the last record */
	/* Records that reader_next() returns before it reads the next line. */
	struct record *queue;
	size_t queued, taken, queue_capacity;
	bool is_at_end;
	int error; /* 0, or the negative errno that has ended the reading */
};

static bool rows_detect(const unsigned char *data, size_t size)
{
	return size && *data == '{';
}

static struct record *rows_enqueue(struct rows_reader *s, enum record_type type)
{
	ARRAY_GROW(s->queue, s->queue_capacity, s->queued);
	s->queue[s->queued] = (struct record){.type = type};
	return &s->queue[s->queued++];
}

#define START_TOLERANCE (2 * NS_PER_SECOND) /* a process's start is computed from two clocks, one of which may be set */

static bool rows_is_process(const struct rows_process *process, const struct rows_line *line)
{
	const uint64_t start = line->process_start;
	const uint64_t difference = start > process->start ? start - process->start : process->start - start;

	return process->pid == line->pid && difference <= START_TOLERANCE && !strcmp(process->host, line->host);
}

/* Returns the text that shows the program to users, also in files for other tools. */
static char *rows_command(const struct rows_line *line)
{
	const bool is_exact = line->way && !strcmp(line->way, "trace");

	return xasprintf("%s%s", line->program ? line->program : "?",
			 is_exact ? "" : " (estimates of functrace --watch)");
}

static struct rows_process *rows_process_of(struct rows_reader *s, const struct rows_line *line)
{
	const char *const host = line->host;
	uint64_t key = hash_bytes(host, strlen(host)) ^ hash_mix(line->pid);

	for (;; key++) {
		uint64_t *const place = hash_place(&s->by_name, key);

		if (!*place) {
			struct rows_process *const process = xcalloc(1, sizeof(*process));
			const uint64_t begin = line->interval_begin ? line->interval_begin : line->interval_end;

			process->host = xstrdup(host);
			process->command = rows_command(line);
			process->pid = line->pid;
			process->start = line->process_start;
			process->day = begin - begin % NS_PER_DAY;
			ARRAY_GROW(s->processes, s->capacity, s->count);
			s->processes[s->count] = process;
			*place = ++s->count;
			return process;
		}
		if (rows_is_process(s->processes[*place - 1], line))
			return s->processes[*place - 1];
	}
}

/* Ends an interval of which nothing but the end is known. */
static void rows_enqueue_end(struct rows_reader *s, uint64_t time_ns, uint32_t kind)
{
	rows_enqueue(s, RECORD_INTERVAL)->interval = (struct record_interval){
		.time_ns = time_ns,
		.resource = kind,
		.windows = NAN,
		.looks = NAN,
		.share = NAN,
		.calls_seen = NAN,
		.calls_unseen = NAN,
		.heap_blocks = NAN,
		.unattributed = NAN,
		.lost_bytes = NAN,
		.cost_budget = NAN,
		.cost_target = NAN,
		.cost_own = NAN,
		.cost_pause = NAN,
	};
}

static void rows_enqueue_process(struct rows_reader *s, struct rows_process *process, uint64_t begin)
{
	if (s->current == process)
		return;
	s->current = process;
	rows_enqueue(s, RECORD_PROCESS)->process = (struct record_process){
		.version_major = 1,
		.pointer_size = 8,
		.pid = (uint32_t)process->pid,
		.has_pid = process->pid,
		.host = process->host,
		.start_sec = (int64_t)(begin / NS_PER_SECOND),
		.name = process->command,
		.command = process->command,
		.is_attached = true,
		.own_start_ns = process->start,
	};
}

/* Returns the id of a kind of resource in a process; 0 if the process has too many kinds. */
static uint32_t rows_kind_of(struct rows_reader *s, struct rows_process *process, const char *kind)
{
	kind = kind ? kind : "memory";
	for (size_t i = 0; i < process->kind_count; i++)
		if (!strcmp(process->kinds[i], kind))
			return (uint32_t)i + 1;
	if (process->kind_count == KINDS_MAX)
		return 0;
	process->kinds[process->kind_count++] = xstrdup(kind);
	rows_enqueue(s, RECORD_RESOURCE)->resource = (struct record_resource){
		.id = (uint32_t)process->kind_count, .type = process->kinds[process->kind_count - 1], .desc = ""};
	return (uint32_t)process->kind_count;
}

/* Ends the interval whose line of the scope "interval" is missing: a query of a database may leave such lines out. */
static void rows_end_interval(struct rows_reader *s, struct rows_process *process)
{
	if (!process->interval)
		return;
	rows_enqueue_process(s, process, process->interval);
	/* A database may return the line of the interval before lines of stacks. */
	if (process->end.time_ns == process->interval - process->day)
		rows_enqueue(s, RECORD_INTERVAL)->interval = process->end;
	else
		rows_enqueue_end(s, process->interval - process->day, process->open_kind);
	process->interval = 0;
}

static enum estimate_verdict rows_verdict(const struct rows_line *line)
{
	for (unsigned verdict = 0; verdict < ESTIMATE_VERDICTS; verdict++)
		if (line->verdict && !strcmp(line->verdict, estimate_verdict_word(verdict)))
			return verdict;
	return ESTIMATE_FEW;
}

static void rows_enqueue_estimate(struct rows_reader *s, const struct rows_process *process, uint32_t kind)
{
	const struct rows_line *const line = &s->line;
	const enum estimate_verdict verdict = rows_verdict(line);
	const uint64_t begin = line->watch_begin;
	const double seconds =
		begin && begin < line->interval_end ? (double)(line->interval_end - begin) / (double)NS_PER_SECOND : 0;

	rows_enqueue(s, RECORD_ESTIMATE)->estimate = (struct record_estimate){
		.call = {.time_ns = line->interval_end - process->day,
			 .resource = kind,
			 .kind = CALL_ALLOC,
			 .function = verdict == ESTIMATE_EXACT ? "[allocator]" : "[estimate]",
			 .frames = s->stack.frames,
			 .frame_texts = s->stack.texts,
			 .frame_count = (uint32_t)s->stack.count,
			 .has_frames = s->stack.count},
		.allocated_blocks = line->call_rate * seconds,
		.allocated_bytes = line->allocated_rate * seconds,
		.live_blocks = line->blocks,
		.live_bytes = line->live,
		.live_low = line->live_low,
		.live_high = line->live_high,
		.growth = line->growth,
		.growth_low = line->growth_low,
		.growth_high = line->growth_high,
		.lost_bytes = line->lost,
		.verdict = verdict,
	};
}

static void rows_enqueue_interval(struct rows_reader *s, struct rows_process *process, uint32_t kind)
{
	const struct rows_line *const line = &s->line;

	process->end = (struct record_interval){
		.time_ns = line->interval_end - process->day,
		.resource = kind,
		.windows = line->windows,
		.looks = line->looks,
		.share = line->share,
		.calls_seen = line->calls_seen,
		.calls_unseen = line->calls_unseen,
		.heap_blocks = line->heap_blocks,
		.unattributed = line->unattributed,
		.lost_bytes = line->lost,
		.cost_budget = line->cost_budget,
		.cost_target = line->cost_target,
		.cost_own = line->cost_own,
		.cost_pause = line->cost_pause,
	};
	rows_enqueue(s, RECORD_INTERVAL)->interval = process->end;
	process->interval = 0;
}

static void rows_enqueue_objects(struct rows_reader *s, struct rows_process *process)
{
	for (; process->declared < process->objects.count; process->declared++) {
		const struct rows_object *const object = &process->objects.items[process->declared];

		rows_enqueue(s, RECORD_OBJECT)->object = (struct record_object){
			object->from, object->from + (UINT64_C(1) << ROWS_OBJECT_BITS), object->path};
		rows_enqueue(s, RECORD_BUILD_ID)->build_id = (struct record_build_id){object->from, object->build_id};
	}
}

/* Makes the records of the line in s->line. Returns 0, or -EBADMSG. */
static int rows_take_line(struct reader *reader)
{
	struct rows_reader *const s = reader->state;
	const struct rows_line *const line = &s->line;
	struct rows_process *const process = rows_process_of(s, line);
	char error[256];

	if (line->interval_end < process->latest || line->interval_end < process->day)
		return reader_damage(reader, 0,
				     "the interval of this line ends before that of an earlier line; sort the lines by "
				     "interval_end");
	if (process->interval && line->interval_end != process->interval)
		rows_end_interval(s, process);
	const bool is_new = !process->latest;
	const uint64_t begin = line->interval_begin ? line->interval_begin : line->interval_end;

	process->latest = line->interval_end;
	if (begin < process->latest && process->latest - begin > process->length)
		process->length = process->latest - begin;
	rows_enqueue_process(s, process, begin);
	const uint32_t kind = rows_kind_of(s, process, line->kind);

	if (!kind)
		return reader_damage(reader, 0, "a process has more than %u kinds of resources", KINDS_MAX);
	if (is_new) /* so that times count from its beginning, not from its end */
		rows_enqueue_end(s, begin - process->day, kind);
	if (line->is_interval) {
		rows_enqueue_interval(s, process, kind);
		return 0;
	}
	if (!rows_stack_make(&s->stack, line, &process->objects, error, sizeof(error)))
		return reader_damage(reader, 0, "%s", error);
	process->interval = line->interval_end;
	process->open_kind = kind;
	rows_enqueue_objects(s, process);
	rows_enqueue_estimate(s, process, kind);
	return 0;
}

/* Finds the next line. Returns 1 and its length without the newline; 0 at the end; a negative errno. */
static int rows_find_line(struct reader *reader, size_t *length)
{
	size_t searched = 0;

	/* Asks for one more byte than there are, because a pipe may have no more for long. */
	while (searched < LINE_LONGEST) {
		const size_t got = reader_fill(reader, searched + 1);
		const unsigned char *const begin = reader->data + reader->start;
		const unsigned char *const end = got > searched ? memchr(begin + searched, '\n', got - searched) : NULL;

		if (end && (size_t)(end - begin) <= LINE_LONGEST) {
			*length = (size_t)(end - begin);
			return 1;
		}
		if (got <= searched)
			return got ? reader_cut_off(reader, "a line") : reader_end(reader);
		searched = got;
	}
	return reader_damage(reader, 0, "a line has more than %u bytes", LINE_LONGEST);
}

static int rows_read_line(struct reader *reader)
{
	struct rows_reader *const s = reader->state;
	char error[256];
	size_t length = 0;
	int status = rows_find_line(reader, &length);

	rows_line_free(&s->line);
	s->taken = s->queued = 0;
	if (status != 1)
		return status;
	if (length) {
		if (!rows_line_parse(&s->line, (const char *)reader->data + reader->start, length, error,
				     sizeof(error)))
			return reader_damage(reader, 0, "%s", error);
		status = rows_take_line(reader);
		if (status)
			return status;
	}
	reader_skip(reader, length + 1);
	return 1;
}

/* The rows of a process may end before those of others: it has ended, or is no longer watched. So nothing of it is
 * known to be alive at the end. */
static void rows_end_process(struct rows_reader *s, struct rows_process *process, uint64_t latest)
{
	rows_end_interval(s, process);
	if (!process->length || process->latest + STALE_INTERVALS * process->length >= latest)
		return;
	rows_enqueue_process(s, process, process->latest);
	for (uint32_t kind = 1; kind <= process->kind_count; kind++)
		rows_enqueue_end(s, process->latest + 1 - process->day, kind);
	rows_enqueue(s, RECORD_NOTE)->note.text =
		"the rows of this process end before those of others, so nothing of it "
		"counts as alive";
}

/* Enqueues what follows after the last line. */
static void rows_enqueue_ends(struct rows_reader *s)
{
	uint64_t latest = 0;

	for (size_t i = 0; i < s->count; i++)
		latest = s->processes[i]->latest > latest ? s->processes[i]->latest : latest;
	for (size_t i = 0; i < s->count; i++)
		rows_end_process(s, s->processes[i], latest);
}

static int rows_next(struct reader *reader, struct record *record)
{
	struct rows_reader *const s = reader->state;

	while (s->taken == s->queued) {
		if (s->error || s->is_at_end)
			return s->error;
		const int status = rows_read_line(reader);

		/* Nothing of a damaged line is passed on. */
		if (status < 0) {
			s->taken = s->queued;
			return s->error = status;
		}
		s->is_at_end = !status;
		if (s->is_at_end)
			rows_enqueue_ends(s);
	}
	*record = s->queue[s->taken++];
	return 1;
}

static void rows_process_free(struct rows_process *process)
{
	for (size_t i = 0; i < process->kind_count; i++)
		free(process->kinds[i]);
	rows_objects_free(&process->objects);
	free(process->host);
	free(process->command);
	free(process);
}

static void rows_reader_end(struct reader *reader)
{
	struct rows_reader *const s = reader->state;

	for (size_t i = 0; i < s->count; i++)
		rows_process_free(s->processes[i]);
	free(s->processes);
	free(s->queue);
	hash_free(&s->by_name);
	rows_line_free(&s->line);
	rows_stack_free(&s->stack);
}

const struct reader_ops rows_reader_ops = {
	.detect = rows_detect, .state_size = sizeof(struct rows_reader), .next = rows_next, .end = rows_reader_end};
