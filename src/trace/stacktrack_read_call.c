/* Calls of a StackTrack trace: a hit of a function's scope, its arguments and its stack. */
#include "config.h"
#include "trace/digits.h"
#include "trace/stacktrack_read.h"
#include "trace/stacktrack_words.h"

#include <stdlib.h>
#include <string.h>

struct record *stacktrack_enqueue(struct stacktrack_reader *s, enum record_type type)
{
	struct record *record = &s->queue[s->queued++];

	*record = (struct record){.type = type};
	return record;
}

/* The next address of a stack, and what follows it (NULL: nothing). Most are words of nothing but an address. */
static bool next_frame(char **at, uint64_t *address, const char **text, enum stack_end *end)
{
	struct word word;

	for (;;) {
		const char *const behind = **at == '0' && (*at)[1] == 'x' ? take_hexadecimal(*at + 2, address) : NULL;

		*text = NULL;
		if (behind && (!*behind || *behind == ' ')) {
			*at += behind - *at + (*behind == ' ');
			return true;
		}
		if (!next_word(at, &word))
			return false;
		if (is(&word, "end"))
			*end = !strcmp(word.value, "cut") ? STACK_CUT : STACK_LOST;
		if (strncmp(word.key, "0x", 2) != 0 || !parse_number(word.key, UINT64_MAX, address))
			continue;
		*text = *word.value ? word.value : NULL;
		return true;
	}
}

/* The frames of a text, into process->frames; their number. */
static uint32_t parse_frames(struct stacktrack_process *process, bool *named)
{
	const struct buf *text_of_all = &process->entry.text;
	uint32_t count = 0;
	uint64_t address;
	const char *text;

	process->frames_text.size = 0;
	buf_add(&process->frames_text, text_of_all->data, text_of_all->size + 1);
	for (char *at = (char *)process->frames_text.data; next_frame(&at, &address, &text, &process->call.end);) {
		ARRAY_GROW(process->frames, process->frame_capacity, count);
		ARRAY_GROW(process->texts, process->text_capacity, count);
		process->texts[count] = text;
		*named |= text != NULL;
		process->frames[count++] = address;
	}
	return count;
}

static void copy_frames(struct stacktrack_process *process, const struct cached_stack *stack)
{
	uint32_t count;
	const uint64_t *const frames = stack_cache_frames(stack, &count);

	if (process->frame_capacity < count) {
		process->frames = xreallocarray(process->frames, count, sizeof(*process->frames));
		process->frame_capacity = count;
	}
	if (count)
		memcpy(process->frames, frames, count * sizeof(*frames));
	process->call.frame_count = count;
	process->call.end = stack->end;
}

void stacktrack_take_backtrace(struct stacktrack_reader *s, struct stacktrack_process *process)
{
	const char *const text = (const char *)process->entry.text.data;
	const size_t size = process->entry.text.size;
	struct record_call *call = &process->call;
	const struct cached_stack *const known = stack_cache_find(&s->stacks, text, size);
	bool named = false;

	call->has_frames = true;
	call->end = STACK_WHOLE;
	if (known)
		copy_frames(process, known);
	else
		call->frame_count = parse_frames(process, &named);
	call->frames = process->frames;
	call->frame_texts = named ? process->texts : NULL;
	if (!known && !named)
		stack_cache_keep(&s->stacks, text, size, call->frames, call->frame_count * sizeof(uint64_t), call->end);
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

/* What `rest` of `divisor` ticks a second are in nanoseconds, rounded down. Digit by digit: a product would not fit. */
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

/* Ticks since the start, whose second is known, as the time of the day. */
static uint64_t foreign_time(const struct stacktrack_process *process, uint64_t ticks)
{
	const uint64_t divisor = process->ticks ? process->ticks : STACKTRACK_TICKS;
	const uint64_t passed = ticks - process->start_ticks;

	return process->start % 86400 * STACKTRACK_TICKS + passed / divisor * STACKTRACK_TICKS +
	       nanoseconds_of(passed % divisor, divisor);
}

/* A checkpoint of a program that is not ours: a call that allocates nothing. */
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

static enum call_kind kind_of(const struct word *word)
{
	return is(word, "alloc") ? CALL_ALLOC : is(word, "release") ? CALL_RELEASE : is(word, "copy") ? CALL_COPY : 0;
}

void stacktrack_take_call(struct stacktrack_reader *s, struct stacktrack_process *process, const char *function)
{
	struct record_call *call = &process->call;
	char *at = (char *)process->entry.text.data;
	struct word word;

	/* The call before is perhaps in the queue, with its name. */
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
		const enum call_kind kind = kind_of(&word);

		if (kind) {
			call->kind = kind;
			call->id = value;
		} else if (is(&word, "size")) {
			call->size = value;
		} else if (is(&word, "resource")) {
			call->resource = (uint32_t)value;
		} else if (is(&word, "context")) {
			call->context = (uint32_t)value;
		} else if (is(&word, "notime")) {
			call->time_ns = TIME_NONE;
		} else if (is(&word, "shared")) {
			call->shares_next = true;
		}
	}
	if (!call->kind)
		take_foreign(s, process);
	process->has_call = true;
	process->call_sequence = process->entry.sequence;
}
