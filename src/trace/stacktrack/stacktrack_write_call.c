/* Writes calls in the StackTrack format. A call is a hit of its function's scope; its arguments and its stack are hits
 * of named values with the same sequence number. */
#include "config.h"
#include "trace/digits.h"
#include "trace/stacktrack/stacktrack_write.h"
#include "trace/escape.h"

#include <stdlib.h>
#include <string.h>

#define SCOPES_MAX     65535
#define FIRST_FUNCTION (STACKTRACK_VALUE_COUNT + 1)
#define CALL_ROOM      (5 * (NUMBER_ROOM + 16)) /* maximum length of the text of a call, in bytes */

void stacktrack_forget_functions(struct stacktrack_writer *s)
{
	for (size_t i = 0; i < s->name_count; i++)
		free(s->names[i]);
	s->name_count = 0;
	hash_free(&s->functions);
}

static uint32_t function_scope(struct writer *writer, const char *name)
{
	struct stacktrack_writer *s = writer->state;
	const uint64_t key = hash_bytes(name, strlen(name));
	const uint64_t *known = hash_get(&s->functions, key);

	if (known && !strcmp(s->names[*known - FIRST_FUNCTION], name))
		return (uint32_t)*known;
	/* If all numbers of scopes are used, numbering starts again, and each scope is written again before its next
	 * call. */
	if (s->name_count > SCOPES_MAX - FIRST_FUNCTION)
		stacktrack_forget_functions(s);
	const uint32_t scope = FIRST_FUNCTION + (uint32_t)s->name_count;

	ARRAY_GROW(s->names, s->name_capacity, s->name_count);
	s->names[s->name_count++] = xstrdup(name);
	hash_set(&s->functions, key, scope);
	stacktrack_post_scope(writer, scope, STACKTRACK_SCOPE, name);
	return scope;
}

/* Returns true if the current cycle already contains the stack, with the same end. If not, notes that the cycle now
 * contains it. *number gets the stack's number in this cycle; or -1 if the stack is empty or too long, and then nothing
 * is noted. */
static bool is_posted(struct stacktrack_writer *s, const struct record_call *call, int *number)
{
	const size_t size = call->frame_count * sizeof(*call->frames);
	const struct cached_stack *const known = stack_cache_find(&s->stacks, call->frames, size);

	*number = stack_cache_place(&s->stacks);
	if (known && known->end == call->end && !memcmp(known->value.data, &s->cycles, sizeof(s->cycles)))
		return true;
	stack_cache_keep(&s->stacks, call->frames, size, &s->cycles, sizeof(s->cycles), call->end);
	return false;
}

/* Appends frames without names, which is the usual case. Reserves room for all of them at once. */
static void stacktrack_write_call_add_addresses(struct buf *text, const struct record_call *call)
{
	char *const first = (char *)buf_room(text, (size_t)call->frame_count * NUMBER_ROOM);
	char *p = first;

	for (uint32_t i = 0; i < call->frame_count; i++)
		p = put_0x(put_literal(p, " "), call->frames[i]);
	text->size += (size_t)(p - first);
}

static void stacktrack_write_call_add_frames(struct buf *text, const struct record_call *call)
{
	for (uint32_t i = 0; i < call->frame_count; i++) {
		stacktrack_add_address(text, " ", call->frames[i]);
		if (!call->frame_texts[i])
			continue;
		buf_add_char(text, '=');
		text_put_escaped(text, call->frame_texts[i], " ");
	}
}

/* Appends the call's stack. number: the stack's number, or -1. */
static void stacktrack_write_call_put_frames(struct writer *writer, const struct record_call *call, int number)
{
	static const char *const ends[] = {"", " end=cut", " end=lost"};
	struct stacktrack_writer *s = writer->state;

	s->text.size = 0;
	stacktrack_add_number(&s->text, "frames", call->frame_count);
	buf_add_str(&s->text, ends[call->end]);
	if (number >= 0)
		stacktrack_add_number(&s->text, "stack", (unsigned)number);
	if (call->frame_texts)
		stacktrack_write_call_add_frames(&s->text, call);
	else
		stacktrack_write_call_add_addresses(&s->text, call);
	stacktrack_put_value(writer, STACKTRACK_OF_BACKTRACE);
}

static void stacktrack_write_call_put_args(struct writer *writer, const struct record_call *call)
{
	struct stacktrack_writer *s = writer->state;

	s->text.size = 0;
	for (uint32_t i = 0; i < call->arg_count; i++) {
		if (i)
			buf_add_char(&s->text, ' ');
		text_put_escaped(&s->text, call->args[i].name ? call->args[i].name : "", " =");
		buf_add_char(&s->text, '=');
		text_put_escaped(&s->text, call->args[i].value ? call->args[i].value : "", " ");
	}
	stacktrack_put_value(writer, STACKTRACK_OF_ARGS);
}

void stacktrack_put_call(struct writer *writer, const struct record_call *call)
{
	static const char *const kinds[] = {
		[CALL_RELEASE] = "release=", [CALL_ALLOC] = "alloc=", [CALL_COPY] = "copy="};
	struct stacktrack_writer *s = writer->state;
	struct buf *text = stacktrack_begin_record(writer);
	int number = -1;
	const bool has_time = call->time_ns != TIME_NONE;

	char *const first = (char *)buf_room(text, CALL_ROOM);
	char *p = put_0x(stpcpy(first, kinds[call->kind]), call->id);

	if (call->size)
		p = put_decimal(put_literal(p, " size="), call->size);
	if (call->resource)
		p = put_decimal(put_literal(p, " resource="), call->resource);
	if (call->context)
		p = put_0x(put_literal(p, " context="), call->context);
	if (!has_time)
		p = put_literal(p, " notime=1");
	if (call->shares_next)
		p = put_literal(p, " shared=1");
	/* A stack that the current cycle contains already is written as its number, because many calls of a trace share
	 * few stacks. */
	const bool is_known = call->has_frames && !call->frame_texts && is_posted(s, call, &number);

	if (is_known)
		p = put_decimal(put_literal(p, " stack="), (unsigned)number);
	text->size += (size_t)(p - first);
	s->now = has_time ? call->time_ns : s->now;
	stacktrack_put_hit(writer, function_scope(writer, call->function ? call->function : ""), s->now);
	if (call->arg_count)
		stacktrack_write_call_put_args(writer, call);
	if (call->has_frames && !is_known)
		stacktrack_write_call_put_frames(writer, call, number);
	writer->omissions.count[OMITTED_COMMENT] += call->summary != NULL;
}
