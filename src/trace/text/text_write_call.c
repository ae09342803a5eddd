/* Writes calls as text. The lines are built without printf, because a trace of a million events has ten million
 * lines. */
#include "config.h"
#include "trace/digits.h"
#include "trace/frame_text.h"
#include "trace/text/text_write.h"
#include "base/time_units.h"

#include <string.h>

/* Writes `value` with `width` digits. Returns the address after them. */
static inline char *put_padded(char *p, unsigned value, unsigned width)
{
	for (unsigned i = width; i--; value /= 10)
		p[i] = (char)('0' + value % 10);
	return p + width;
}

static char *put_time(char *p, uint64_t ns, bool compat)
{
	const uint64_t us = ns % NS_PER_DAY / 1000;
	const unsigned seconds = (unsigned)(us / 1000000), fraction = (unsigned)(us % 1000000);

	*p++ = '[';
	p = put_padded(p, seconds / 3600, 2);
	*p++ = ':';
	p = put_padded(p, seconds / 60 % 60, 2);
	*p++ = ':';
	p = put_padded(p, seconds % 60, 2);
	*p++ = '.';
	p = compat ? put_padded(p, fraction / 1000, 3) : put_padded(p, fraction, 6);
	*p++ = ']';
	*p++ = ' ';
	return p;
}

/* Appends `12. @1 [00:00:01.000000] `. */
static void put_call_head(struct writer *writer, const struct record_call *call)
{
	char *const line = (char *)buf_room(&writer->out, 3 * NUMBER_ROOM + 32);
	char *p = put_decimal(line, call->index);

	*p++ = '.';
	*p++ = ' ';
	if (call->context) {
		*p++ = '@';
		p = put_hex(p, call->context);
		*p++ = ' ';
	}
	if (call->time_ns != TIME_NONE)
		p = put_time(p, call->time_ns, writer->options.compat);
	writer->out.size += (size_t)(p - line);
}

static const struct text_type *text_write_call_type_of(const struct text_writer *s, uint32_t resource)
{
	for (size_t i = 0; i < s->type_count; i++)
		if (s->types[i].id == resource || (!resource && s->type_count == 1))
			return &s->types[i];
	return NULL;
}

/* Returns the name of the resource's type if calls have to contain it, because the trace declares several types; else
 * NULL. */
static const char *shown_type(const struct text_writer *s, uint32_t resource)
{
	const struct text_type *type = s->type_count < 2 ? NULL : text_write_call_type_of(s, resource);

	return type ? type->name : NULL;
}

/* If the call is a copy (CALL_COPY), appends the mark of a copy, because a copy is otherwise written like an
 * allocation. Writes no mark in compat, nor if the call's resource has RESOURCE_CALL. */
static void put_copy_mark(struct writer *writer, const struct record_call *call)
{
	const struct text_type *type = text_write_call_type_of(writer->state, call->resource);

	if (call->kind == CALL_COPY && !writer->options.compat && !(type && type->flags & RESOURCE_CALL))
		buf_add_str(&writer->out, TEXT_COPY_LINE "\n");
}

static char *put_size(struct writer *writer, char *p, uint64_t size)
{
	if (!writer->options.compat)
		return put_decimal(p, size);
	/* The sp-rtrace tools print and read the size, a dword, as a signed number. */
	if (size > UINT32_MAX) {
		writer->cut_count++;
		size = UINT32_MAX;
	}
	if (size <= INT32_MAX)
		return put_decimal(p, size);
	*p++ = '-';
	return put_decimal(p, UINT64_C(0x100000000) - size);
}

/* Appends `(100) = 0x602010` or `(0x602010)`. */
static void put_call_tail(struct writer *writer, const struct record_call *call)
{
	char *const line = (char *)buf_room(&writer->out, 2 * NUMBER_ROOM + 16);
	char *p = line;

	*p++ = '(';
	if (call->kind == CALL_RELEASE) {
		p = put_0x(p, call->id);
		*p++ = ')';
	} else {
		p = put_size(writer, p, call->size);
		memcpy(p, ") = ", 4);
		p = put_0x(p + 4, call->id);
	}
	*p++ = '\n';
	writer->out.size += (size_t)(p - line);
}

static void text_write_call_put_index(struct buf *out, uint32_t index)
{
	char digits[NUMBER_ROOM];

	buf_add(out, digits, (size_t)(put_decimal(digits, index) - digits));
}

/* Appends an argument in dialect 1.4: a tab and `$1 = name=value`. If an argument has no name and its value looks like
 * `name=value` or begins with '=', a '=' is put before the value. */
static void text_write_call_put_arg(struct buf *out, uint32_t number, const char *name, const char *value)
{
	buf_add_str(out, "\t$");
	text_write_call_put_index(out, number);
	buf_add_str(out, " = ");
	if (*name) {
		text_put_escaped(out, name, "= ");
		buf_add_char(out, '=');
	} else if (value[text_identifier(value)] == '=') {
		buf_add_char(out, '=');
	}
	text_put_escaped(out, value, "");
	buf_add_char(out, '\n');
}

/* Appends an argument in compat: a tab and `$name = value`. An empty name is replaced by the number, and an empty value
 * by `""`; blanks are escaped. */
static void put_compat_arg(struct buf *out, uint32_t number, const char *name, const char *value)
{
	buf_add_str(out, "\t$");
	if (*name)
		text_put_escaped(out, name, " ");
	else
		text_write_call_put_index(out, number);
	buf_add_str(out, " = ");
	text_put_escaped(out, *value ? value : "\"\"", " ");
	buf_add_char(out, '\n');
}

static void text_write_call_put_args(struct writer *writer, const struct record_call *call)
{
	for (uint32_t i = 0; i < call->arg_count; i++) {
		const char *name = call->args[i].name ? call->args[i].name : "";
		const char *value = call->args[i].value ? call->args[i].value : "";

		if (writer->options.compat)
			put_compat_arg(&writer->out, i + 1, name, value);
		else
			text_write_call_put_arg(&writer->out, i + 1, name, value);
	}
}

/* Returns true if a demangled name ends in a parameter list. Qualifiers and "[clone ...]" may follow the list. */
static bool has_parameters(const char *name)
{
	size_t length = strlen(name);

	while (length && name[length - 1] == ']') {
		const char *clone = memrchr(name, '[', length);

		if (!clone || clone == name || clone[-1] != ' ')
			break;
		length = (size_t)(clone - 1 - name);
	}
	while (frame_text_cut_end(name, &length, " const") || frame_text_cut_end(name, &length, " volatile") ||
	       frame_text_cut_end(name, &length, " &") || frame_text_cut_end(name, &length, " &&"))
		;
	return length && name[length - 1] == ')';
}

/* Appends the text after an address: in 1.4 ` in f() at file:1`, in compat ` f() at file:1`. */
static void text_write_call_put_name(struct writer *writer, const struct frame_name *name)
{
	struct buf *out = &writer->out;

	if (name->function) {
		buf_add_str(out, writer->options.compat ? " " : " in ");
		text_put_escaped(out, name->function, "");
		if (!has_parameters(name->function))
			buf_add_str(out, "()");
	}
	if (name->file && name->line) {
		buf_add_str(out, " at ");
		text_put_escaped(out, name->file, "");
		buf_add_char(out, ':');
		text_write_call_put_index(out, name->line);
	} else if (name->module) {
		buf_add_str(out, " from ");
		text_put_escaped(out, name->module, "");
	}
	if (name->inlined)
		buf_add_str(out, TEXT_INLINED);
}

static void put_address(struct buf *out, uint64_t address)
{
	char *const line = (char *)buf_room(out, NUMBER_ROOM);

	line[0] = '\t';
	out->size += (size_t)(put_0x(line + 1, address) - line);
}

/* Appends a frame with its names, one name per line. In compat only the function itself is named, because readers would
 * take the lines of inlined functions for further frames. */
static void put_named_frame(struct writer *writer, uint64_t address, const struct frame_name *names, size_t count)
{
	for (size_t i = writer->options.compat ? count - 1 : 0; i < count; i++) {
		put_address(&writer->out, address);
		text_write_call_put_name(writer, &names[i]);
		buf_add_char(&writer->out, '\n');
	}
}

/* Puts a frame. text: the text after its address that was read from a trace, or NULL. Newlines and tabs in it stay. */
static void put_frame(struct writer *writer, uint64_t address, const char *text)
{
	const struct writer_options *options = &writer->options;
	const struct frame_name *names;
	const size_t count = frame_lookup(options->namer, options->namer_context, address, text, &names);

	if (count) {
		put_named_frame(writer, address, names, count);
		return;
	}
	put_address(&writer->out, address);
	if (!text && options->namer && options->compat)
		buf_add_str(&writer->out, " in ??");
	while (text && *text)
		text = text_put_character(&writer->out, text, "\n\t");
	buf_add_char(&writer->out, '\n');
}

static void text_write_call_put_frames(struct writer *writer, const struct record_call *call)
{
	const bool named = writer->options.namer || call->frame_texts;

	if (named) {
		for (uint32_t i = 0; i < call->frame_count; i++)
			put_frame(writer, call->frames[i], call->frame_texts ? call->frame_texts[i] : NULL);
	} else {
		char *const first = (char *)buf_room(&writer->out, (size_t)call->frame_count * NUMBER_ROOM);
		char *p = first;

		for (uint32_t i = 0; i < call->frame_count; i++) {
			*p++ = '\t';
			p = put_0x(p, call->frames[i]);
			*p++ = '\n';
		}
		writer->out.size += (size_t)(p - first);
	}
	if (call->end && !writer->options.compat)
		buf_printf(&writer->out, "\t0x0%s\n", text_stack_ends[call->end]);
}

static void text_write_call_note_block(struct text_writer *s, const struct record_call *call)
{
	if (call->kind != CALL_ALLOC || !call->id)
		return;
	for (size_t i = 0; s->type_count > 1 && i < s->type_count; i++)
		if (s->types[i].id == call->resource && !is_heap_type(s->types[i].name))
			return;
	if (!s->lowest || call->id < s->lowest)
		s->lowest = call->id;
	if (call->id > s->highest)
		s->highest = call->id;
}

void text_put_call(struct writer *writer, const struct record_call *call)
{
	struct text_writer *s = writer->state;
	struct buf *out = &writer->out;
	const char *type = shown_type(s, call->resource);

	text_write_call_note_block(s, call);
	put_call_head(writer, call);
	text_put_escaped(out, call->function ? call->function : "", "");
	if (type) {
		buf_add_char(out, '<');
		text_put_escaped(out, type, "");
		buf_add_char(out, '>');
	}
	put_call_tail(writer, call);
	put_copy_mark(writer, call);
	text_write_call_put_args(writer, call);
	if (call->shares_next)
		return;
	if (call->summary) {
		buf_add_str(out, call->summary);
		buf_add_char(out, '\n');
	}
	if (call->has_frames)
		text_write_call_put_frames(writer, call);
	/* A call without frames also needs the blank line, because without it readers would give the call the frames of
	 * the next call. */
	buf_add_char(out, '\n');
}
