/* Parses the calls of a StackTrack trace. A call is a hit of its function's scope; hits with its arguments and its
 * stack follow. */
#include "config.h"
#include "trace/stacktrack/stacktrack_read.h"
#include "trace/stacktrack/stacktrack_words.h"
#include "base/time_units.h"

#include <stdlib.h>
#include <string.h>

struct record *stacktrack_enqueue(struct stacktrack_reader *s, enum record_type type)
{
	struct record *record = &s->queue[s->queued++];

	*record = (struct record){.type = type};
	return record;
}

void stacktrack_take_args(struct stacktrack_process *process)
{
	struct record_call *call = &process->call;
	struct word word;

	process->args_text.size = 0;
	buf_add(&process->args_text, process->entry.text.data, process->entry.text.size + 1);
	call->arg_count = 0;
	for (char *at = (char *)process->args_text.data; next_word(&at, &word);) {
		ARRAY_GROW(process->args, process->arg_capacity, call->arg_count);
		process->args[call->arg_count++] = (struct call_arg){word.key, word.value};
	}
	call->args = process->args;
}

/* Converts `rest` ticks to nanoseconds, rounded down; a second has `divisor` ticks, and rest < divisor. The division is
 * done digit by digit, because rest * 10^9 can exceed 64 bits. */
static uint64_t nanoseconds_of(uint64_t rest, uint64_t divisor)
{
	uint64_t nanoseconds = 0;

	for (; divisor > UINT64_MAX / 10; divisor >>= 1)
		rest >>= 1;
	for (int digit = 0; digit < 9; digit++) {
		rest *= 10;
		nanoseconds = nanoseconds * 10 + rest / divisor;
		rest %= divisor;
	}
	return nanoseconds;
}

/* Converts the time of a hit from ticks to ns of the day. The process's start is known in ticks (start_ticks) and in
 * seconds (start). */
static uint64_t foreign_time(const struct stacktrack_process *process, uint64_t ticks)
{
	const uint64_t divisor = process->ticks ? process->ticks : STACKTRACK_TICKS;
	const uint64_t passed = ticks - process->start_ticks;

	return process->start % SECONDS_PER_DAY * NS_PER_SECOND + passed / divisor * NS_PER_SECOND +
	       nanoseconds_of(passed % divisor, divisor);
}

/* Turns process->call, which is a checkpoint of another program, into a call that allocates nothing. Declares the
 * resource "checkpoint" before the first such call. */
static void take_foreign(struct stacktrack_reader *s, struct stacktrack_process *process)
{
	process->call.kind = CALL_COPY;
	process->call.time_ns = foreign_time(process, process->call.time_ns);
	process->call.resource = 1;
	if (process->has_foreign)
		return;
	process->has_foreign = true;
	stacktrack_enqueue(s, RECORD_RESOURCE)->resource = (struct record_resource){
		.id = 1, .flags = RESOURCE_CALL, .type = "checkpoint", .desc = "checkpoint that was passed"};
}

static enum call_kind stacktrack_read_call_kind_of(const struct word *word)
{
	return word_is(word, "alloc")     ? CALL_ALLOC
	       : word_is(word, "release") ? CALL_RELEASE
	       : word_is(word, "copy")    ? CALL_COPY
					  : 0;
}

void stacktrack_take_call(struct reader *reader, struct stacktrack_process *process, const char *function)
{
	struct stacktrack_reader *s = reader->state;
	struct record_call *call = &process->call;
	char *at = (char *)process->entry.text.data;
	struct word word;

	/* The previous call may be in the queue and point to its name, so the names of calls are stored alternately in
	 * two places. */
	process->turn = !process->turn;
	char **const name = &process->functions[process->turn];

	if (!*name || strcmp(*name, function) != 0) {
		free(*name);
		*name = xstrdup(function);
	}
	*call = (struct record_call){
		.index = ++process->calls, .time_ns = process->entry.members[STACKTRACK_HIT_WHEN], .function = *name};
	while (next_word(&at, &word)) {
		const uint64_t value = word_number(&word);
		const enum call_kind kind = stacktrack_read_call_kind_of(&word);

		if (kind) {
			call->kind = kind;
			call->id = value;
		} else if (word_is(&word, "size")) {
			call->size = value;
		} else if (word_is(&word, "resource")) {
			call->resource = (uint32_t)value;
		} else if (word_is(&word, "context")) {
			call->context = (uint32_t)value;
		} else if (word_is(&word, "notime")) {
			call->time_ns = TIME_NONE;
		} else if (word_is(&word, "shared")) {
			call->shares_next = true;
		} else if (word_is(&word, "stack")) {
			stacktrack_refer(reader, process, value);
		}
	}
	if (!call->kind)
		take_foreign(s, process);
	process->has_call = true;
	process->call_sequence = process->entry.sequence;
}
