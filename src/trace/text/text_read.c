/* Reads the text format: lines, and the groups of calls that share a stack.
 *
 * The frames of a call follow its arguments. In traces that functrace-postproc -c has grouped, a group of calls, with
 * comments between them, shares the frames after the last call. So after a call the reader looks ahead for frames, or
 * for the blank line that ends a record without frames. Then it returns the group's records one by one, each call with
 * the frames. If a group is too long, its first calls are returned without frames. */
#include "config.h"
#include "trace/text/text_damage.h"
#include "trace/text/text_read.h"
#include "base/time_units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void text_read_end(struct reader *reader)
{
	struct text_reader *s = reader->state;

	for (size_t i = 0; i < s->resource_count; i++)
		free(s->resources[i].type);
	free(s->resources);
	free(s->frames);
	free(s->spans);
	free(s->texts);
	free(s->args);
}

static bool text_is_compat(const struct reader *reader)
{
	return ((const struct text_reader *)reader->state)->compat;
}

static bool text_detect(const unsigned char *data, size_t size)
{
	for (size_t i = 0; i < TEXT_KEYS; i++)
		if (size >= strlen(text_keys[i]) && !memcmp(data, text_keys[i], strlen(text_keys[i])))
			return true;
	return false;
}

static int text_read_header(struct reader *reader, struct record *record)
{
	struct text_reader *s = reader->state;
	size_t length;

	/* The bytes that were read to recognise the format may still contain CR LF. */
	text_begin_lines(reader);
	const int status = text_line(reader, 0, &length);

	if (status <= 0)
		return status;
	char *line = text_at(reader, 0);

	line[length] = '\0';
	record->type = RECORD_PROCESS;
	if (!text_take_header(s, line, &record->process))
		return reader_damage(reader, 0, "the first line is no trace's header");
	if (!record->process.version_major || record->process.version_major > TEXT_COMPAT_MAJOR)
		return reader_damage(reader, 0, "the format's version is %u.%u; known are 1 and 2",
				     record->process.version_major, record->process.version_minor);
	text_complain(reader, 1);
	s->begun = true;
	s->line = 2;
	s->compat = record->process.version_major >= TEXT_COMPAT_MAJOR;
	reader->start += length + 1;
	if (!s->compat && record->process.start_sec > 0)
		s->clock = (struct day_clock){
			.known = true, .last = (uint64_t)record->process.start_sec % SECONDS_PER_DAY * NS_PER_SECOND};
	return 1;
}

/* Looks ahead, from the line after a call, for the frames or the blank line at the end of its group. */
static void find_group(struct reader *reader, size_t from)
{
	struct text_reader *s = reader->state;
	uint64_t line = s->line + 1;
	size_t length;

	s->in_group = true;
	s->group_at = 0;
	s->frame_count = 0;
	s->group_lines = 0;
	s->text_count = 0;
	s->end = STACK_WHOLE;
	s->group_goes_on = false;
	s->group_status = 0;
	/* Do not wait for a byte that is not needed, because the input may be a trace that is still being written. */
	while (text_fill(reader, from + 1) > from) {
		if (*text_at(reader, from) == '\n') {
			s->group_frames = from;
			s->group_end = from + 1;
			s->group_lines = 1;
			return;
		}
		if (*text_at(reader, from) == '\t' && text_fill(reader, from + 3) >= from + 3 &&
		    text_is_frame(text_at(reader, from))) {
			s->group_frames = from;
			from = text_take_frames(reader, from, line);
			s->group_end = from + (*text_at(reader, from) == '\n');
			s->group_lines += s->group_end - from;
			return;
		}
		s->group_status = text_line(reader, from, &length);
		if (s->group_status <= 0 || text_is_header(text_at(reader, from)))
			break;
		struct text_call next;

		s->group_goes_on = from >= TEXT_GROUP_PART && text_parse_call(text_at(reader, from), length, &next);
		if (s->group_goes_on)
			break;
		from += length + 1;
		line++;
	}
	s->group_frames = s->group_end = from;
}

/* Sets *record to a call of a group, with its arguments and the group's stack. The whole group is in the buffer, and no
 * input is read, so the data do not move. */
static void take_call(struct reader *reader, const struct text_call *parsed, size_t length, struct record *record)
{
	struct text_reader *s = reader->state;
	struct record_call *call = &record->call;
	uint32_t args = 0;

	record->type = RECORD_CALL;
	text_take_call(s, text_at(reader, s->group_at), parsed, call);
	s->group_at += length + 1;
	text_complain(reader, s->line++);
	s->astray = false;
	while (s->group_at < s->group_frames && args < TEXT_ARGS_MAX && text_is_arg(text_at(reader, s->group_at))) {
		char *line = text_at(reader, s->group_at);
		char *end = strchr(line, '\n');

		*end = '\0';
		if (!s->compat && !strcmp(line, TEXT_COPY_LINE)) {
			call->kind = CALL_COPY;
		} else {
			ARRAY_GROW(s->args, s->arg_capacity, args);
			s->args[args++] = text_take_arg(s, line);
		}
		s->group_at += (size_t)(end - line) + 1;
		text_complain(reader, s->line++);
	}
	call->args = s->args;
	call->arg_count = args;
	call->has_frames = s->frame_count || s->end;
	call->frames = s->frames;
	call->frame_count = (uint32_t)s->frame_count;
	call->end = s->end;
	call->shares_next = s->group_goes_on;
	if (!s->text_count)
		return;
	for (size_t i = 0; i < s->frame_count; i++) {
		const struct text_span *span = &s->spans[i];

		s->texts[i] = span->end ? text_at(reader, span->begin) : NULL;
		if (span->end)
			*text_at(reader, span->end) = '\0';
	}
	call->frame_texts = s->texts;
}

static bool text_read_is_heap(const char *line, size_t length)
{
	return length == strlen(TEXT_HEAP_LINE) && !memcmp(line, TEXT_HEAP_LINE, length);
}

/* Parses line `i` after TEXT_HEAP_LINE; the line begins with "## ". */
static bool parse_heap_line(const char *p, size_t i, uint64_t *value)
{
	const size_t length = strlen(text_heap_lines[i]);

	if (strncmp(p, "##   ", 5) || strncmp(p + 5, text_heap_lines[i], length))
		return false;
	p += 5 + length;
	if (i < 4)
		p = strncmp(p, " 0x", 3) ? NULL : text_hex(p + 3, value);
	else
		p = *p == ' ' ? text_decimal(p + 1, value) : NULL;
	return p && *p == '\n';
}

/* Parses the heap lines, whose head is at data + start + from. If all of them are there before offset `end`, returns
 * true and sets *size to their size in bytes. Otherwise returns false; the lines are then comments. */
static bool text_read_take_heap(struct reader *reader, size_t from, size_t end, size_t *size, struct record *record)
{
	struct record_heap *heap = &record->heap;
	uint64_t values[TEXT_HEAP_LINES];
	size_t length, next = from + strlen(TEXT_HEAP_LINE) + 1;

	for (size_t i = 0; i < TEXT_HEAP_LINES; i++) {
		if (next >= end || text_line(reader, next, &length) <= 0 ||
		    !parse_heap_line(text_at(reader, next), i, &values[i]))
			return false;
		next += length + 1;
	}
	record->type = RECORD_HEAP;
	*heap = (struct record_heap){.bottom = values[0], .top = values[1], .lowest = values[2], .highest = values[3]};
	memcpy(heap->info, values + 4, sizeof(heap->info));
	*size = next - from;
	return true;
}

/* Sets *record to the record of a line other than a call, header or heap line. Returns 1, or 2 if the line is no
 * record. */
static int text_read_take_line(struct reader *reader, char *line, struct record *record)
{
	struct text_reader *s = reader->state;
	const bool continues = s->astray && *line == '\t';
	const bool gave = text_take_line(s, line, record);

	s->astray = continues || s->damage;
	if (continues)
		s->damage = NULL;
	text_complain(reader, s->line++);
	return gave ? 1 : 2;
}

/* Parses the next line of the group. Returns 1; 2 if it is no record or the group has ended; or a negative errno. */
static int next_in_group(struct reader *reader, struct record *record)
{
	struct text_reader *s = reader->state;

	if (s->group_at >= s->group_frames) {
		reader->start += s->group_end;
		s->line += s->group_lines;
		s->in_group = false;
		return s->group_status < 0 ? s->group_status : 2;
	}
	char *line = text_at(reader, s->group_at);
	const size_t length = (size_t)(strchr(line, '\n') - line);
	struct text_call call;

	if (text_parse_call(line, length, &call)) {
		take_call(reader, &call, length, record);
		return 1;
	}
	size_t size;

	if (text_read_is_heap(line, length) &&
	    text_read_take_heap(reader, s->group_at, s->group_frames, &size, record)) {
		s->group_at += size;
		s->line += 1 + TEXT_HEAP_LINES;
		return 1;
	}
	line[length] = '\0';
	s->group_at += length + 1;
	return text_read_take_line(reader, line, record);
}

/* Parses the next line outside of a group. Returns 1; 2 if the line is no record; 0 at the end of the input; or a
 * negative errno. */
static int text_read_next_line(struct reader *reader, struct record *record)
{
	struct text_reader *s = reader->state;
	struct text_call call;
	size_t length;
	const int status = text_line(reader, 0, &length);

	if (status <= 0)
		return status;
	if (text_parse_call(text_at(reader, 0), length, &call)) {
		find_group(reader, length + 1);
		take_call(reader, &call, length, record);
		return 1;
	}
	size_t size;

	if (text_read_is_heap(text_at(reader, 0), length) && text_read_take_heap(reader, 0, SIZE_MAX, &size, record)) {
		reader->start += size;
		s->line += 1 + TEXT_HEAP_LINES;
		return 1;
	}
	char *line = text_at(reader, 0);

	if (text_is_header(line))
		return reader_damage(reader, 0,
				     "a second trace begins here, in line %" PRIu64
				     "; split the file (csplit FILE %" PRIu64 ")",
				     s->line, s->line);
	line[length] = '\0';
	reader->start += length + 1;
	return text_read_take_line(reader, line, record);
}

static int text_next(struct reader *reader, struct record *record)
{
	struct text_reader *s = reader->state;
	int status;

	if (s->stopped)
		return s->status;
	do {
		if (!s->begun)
			status = text_read_header(reader, record);
		else if (s->in_group)
			status = next_in_group(reader, record);
		else
			status = text_read_next_line(reader, record);
	} while (status == 2);
	if (status > 0)
		return status;
	s->stopped = true;
	s->status = status;
	return status;
}

const struct reader_ops text_reader_ops = {
	.detect = text_detect,
	.state_size = sizeof(struct text_reader),
	.next = text_next,
	.is_compat = text_is_compat,
	.end = text_read_end,
};
