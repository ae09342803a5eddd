/* Parses the lines of a call: the call itself, its arguments, its frames. */
#include "config.h"
#include "trace/text/text_damage.h"
#include "trace/frame_text.h"
#include "trace/text/text_read.h"

#include <string.h>

/* Returns true if the function's name ends in `<type>`, where `type` is the resource's type or its number. Sets *suffix
 * to the length of `<type>`. */
static bool has_type(const struct text_reader *s, const struct text_resource *resource, const char *name, size_t length,
		     size_t *suffix)
{
	uint64_t id;

	*suffix = resource->length + 2;
	if (length > *suffix && name[length - *suffix] == '<' &&
	    !memcmp(name + length - resource->length - 1, resource->type, resource->length))
		return true;
	const char *open = memrchr(name, '<', length);

	if (!open || open == name || text_hex(open + 1, &id) != name + length - 1)
		return false;
	*suffix = (size_t)(name + length - open);
	return id == (s->compat ? UINT64_C(1) << (resource->id - 1) : resource->id);
}

static const struct text_resource *text_call_take_type(const struct text_reader *s, const char *name, size_t *length)
{
	size_t suffix;

	/* `<...>` may also be a template argument. Writers add the type only if several resources are declared. */
	if (s->resource_count < 2)
		return s->resource_count ? s->resources : NULL;
	for (size_t i = 0; name[*length - 1] == '>' && i < s->resource_count; i++)
		if (has_type(s, &s->resources[i], name, *length, &suffix)) {
			*length -= suffix;
			return &s->resources[i];
		}
	return NULL;
}

void text_take_call(struct text_reader *s, char *line, const struct text_call *parsed, struct record_call *call)
{
	char *name = line + parsed->name;
	size_t length = parsed->name_length;
	const struct text_resource *resource = text_call_take_type(s, name, &length);

	/* parse_head() skips a sound time or context, so a '[' or '@' here comes from a damaged one. */
	if (*name == '[' || *name == '@')
		s->damage = "is a call with a damaged time or context";
	else if (!resource && s->resource_count)
		s->damage = "is a call that names no type of resource, though the trace has several";
	name[length] = '\0';
	if (memchr(name, '(', length) && text_is_damaged_name(name))
		s->damage = "looks like a damaged call";
	*call = (struct record_call){
		.index = parsed->index,
		.time_ns = parsed->time_ns == TIME_NONE ? TIME_NONE : day_clock_time(&s->clock, parsed->time_ns),
		.resource = resource ? resource->id : 0,
		.context = parsed->context,
		.kind = parsed->release ? CALL_RELEASE : CALL_ALLOC,
		.function = text_unescape(name, ""),
		.id = parsed->id,
		.size = parsed->size,
	};
	/* In text, all calls that return something look like allocations. Only the flag RESOURCE_CALL of the resource
	 * says that nothing is allocated. */
	if (resource && resource->flags & RESOURCE_CALL && !parsed->release)
		call->kind = CALL_COPY;
}

struct call_arg text_take_arg(struct text_reader *s, char *line)
{
	char *key = strchr(line, '$') + 1;
	char *value = strstr(key, " = ");
	uint64_t number;

	if (text_has_control(key) || text_has_another(line) || (!value && !strstr(key, " =")))
		s->damage = "looks like a damaged argument";
	if (value) {
		*value = '\0';
		value += 3;
	} else {
		/* A part of " = " or the value is missing. */
		value = key + strcspn(key, " =");
		if (*value)
			*value++ = '\0';
		value += strspn(value, " =");
	}
	const char *after = text_decimal(key, &number);
	const bool numbered = after && !*after;

	if (s->compat)
		return (struct call_arg){numbered ? "" : text_unescape(key, " "),
					 strcmp(value, "\"\"") ? text_unescape(value, " ") : ""};
	/* Only the mark of a copy (TEXT_COPY_LINE) has the number 0 or the value TEXT_COPY_VALUE. take_call() handles
	 * intact marks itself, so an argument with this number or value is a damaged mark. */
	if ((numbered && !number) || !strcmp(value, TEXT_COPY_VALUE))
		s->damage = "looks like a damaged argument";
	if (!numbered)
		return (struct call_arg){text_unescape(key, ""), text_unescape(value, "")};
	const char *name = "";
	const size_t equals = strcspn(value, "=");

	if (value[0] == '=') {
		value++;
	} else if (value[equals] && equals == text_identifier(value)) {
		name = value;
		value[equals] = '\0';
		value += equals + 1;
	}
	return (struct call_arg){name, text_unescape(value, "")};
}

static bool ends_inlined(const char *end, const char *begin)
{
	const size_t length = strlen(TEXT_INLINED);

	return (size_t)(end - begin) >= length && !memcmp(end - length, TEXT_INLINED, length);
}

static bool text_call_has_control(const char *begin, const char *end)
{
	while (begin < end && !text_is_control(*begin))
		begin++;
	return begin < end;
}

static void text_call_add_frame(struct text_reader *s, uint64_t address, struct text_span span)
{
	if (s->frame_count == TEXT_FRAMES_MAX) {
		s->end = STACK_CUT;
		return;
	}
	if (s->frame_count == s->frame_capacity) {
		s->frame_capacity = s->frame_capacity ? s->frame_capacity * 2 : 64;
		s->frames = xreallocarray(s->frames, s->frame_capacity, sizeof(*s->frames));
		s->spans = xreallocarray(s->spans, s->frame_capacity, sizeof(*s->spans));
		s->texts = xreallocarray(s->texts, s->frame_capacity, sizeof(*s->texts));
	}
	s->spans[s->frame_count] = span;
	s->frames[s->frame_count++] = address;
	s->text_count += span.end != 0;
}

/* Parses the line of a frame, with any text after the address. Returns the line's length with the newline; 0 if the
 * line is no frame, or if reading failed (s->group_status). *inlined must be true if the previous line is marked as
 * inlined. The function sets *inlined to true if this line is marked, else to false. */
static size_t take_long_frame(struct reader *reader, size_t from, bool *inlined)
{
	struct text_reader *s = reader->state;
	uint64_t address;
	size_t length;

	const int status = text_line(reader, from, &length);

	if (status <= 0) {
		s->group_status = status;
		return 0;
	}
	const char *const base = (const char *)reader->data + reader->start;
	const char *const line = base + from, *const end = line + length;
	const char *const text = text_hex(line + 3, &address);

	if (!text)
		return 0;
	struct text_span span = {(uint32_t)(text - base), (uint32_t)(end - base)};

	if (text == end)
		span = (struct text_span){0};
	else if (*text != ' ' || text_call_has_control(text, end))
		s->damage = "looks like a damaged frame";
	/* Consecutive lines with the same address are one frame if all but the last are marked as inlined. */
	if (*inlined && s->frame_count && s->frames[s->frame_count - 1] == address)
		s->spans[s->frame_count - 1].end = (uint32_t)(end - base);
	else
		text_call_add_frame(s, address, span);
	*inlined = ends_inlined(end, text);
	return length + 1;
}

/* If the last frame is functrace's mark of an incomplete stack, the address 0, removes it and sets s->end. */
static void text_call_take_mark(struct reader *reader)
{
	struct text_reader *s = reader->state;
	const size_t last = s->frame_count - 1;
	enum stack_end end = STACK_WHOLE;

	if (!s->frame_count || s->compat || s->frames[last])
		return;
	const struct text_span *span = &s->spans[last];
	const char *text = (const char *)reader->data + reader->start + span->begin;
	const size_t length = span->end - span->begin;

	if (!length)
		end = stack_end_marked((uint32_t)last, s->depth);
	for (enum stack_end k = STACK_CUT; length && k <= STACK_LOST; k++)
		if (strlen(text_stack_ends[k]) == length && !memcmp(text, text_stack_ends[k], length))
			end = k;
	if (!end)
		return;
	s->text_count -= length != 0;
	s->frame_count--;
	s->end = end;
}

size_t text_take_frames(struct reader *reader, size_t from, uint64_t line_number)
{
	struct text_reader *s = reader->state;
	uint64_t address, lines = 0;
	bool inlined = false;

	while (text_fill(reader, from + 1) > from) {
		const char *line = (const char *)reader->data + reader->start + from;

		if (*line != '\t')
			break;
		if (text_fill(reader, from + 3) < from + 3)
			break;
		line = (const char *)reader->data + reader->start + from;
		if (!text_is_frame(line))
			break;
		/* A NUL follows the last byte in the buffer, so text_hex() stops there. */
		const char *end = text_hex(line + 3, &address);

		if (end && *end == '\n' && !inlined && from <= TEXT_GROUP_MAX) {
			text_call_add_frame(s, address, (struct text_span){0});
			from += (size_t)(end - line) + 1;
			lines++;
			continue;
		}
		const size_t size = take_long_frame(reader, from, &inlined);

		if (!size)
			break;
		text_complain(reader, line_number + lines++);
		from += size;
	}
	s->group_lines = lines;
	text_call_take_mark(reader);
	return from;
}
