/* Parses the description of a StackTrack format: elements with attributes, as --show-format prints them. Comments and
 * an XML declaration are skipped; other XML syntax is not supported. */
#include "config.h"
#include "base/util.h"
#include "trace/stacktrack/stacktrack_layout.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ATTRIBUTES_MAX = 16, NAME_MAX_SIZE = 64 };

/* A substring of the description. */
struct span {
	const char *p;
	size_t size;
};

struct stacktrack_describe_attribute {
	struct span name, value;
};

struct describe {
	const char *p, *end;
	size_t line;
	char *error;
	size_t error_size;
	struct stacktrack_format *format;
	bool has_root, is_over;
	/* The members from here to attribute_count describe the current element. */
	struct span tag;
	bool closes, is_empty; /* closes: the element is </TAG>. is_empty: it is <TAG/> */
	struct stacktrack_describe_attribute attributes[ATTRIBUTES_MAX];
	unsigned attribute_count;
	/* is_in_type: the element is inside a TYPE element. type: that TYPE; STACKTRACK_TYPES if it is unknown. */
	bool is_in_type;
	unsigned type, type_size;
	bool has_type[STACKTRACK_TYPES], has_member[STACKTRACK_TYPES][STACKTRACK_MEMBERS];
	bool has_flag[4];
	/* number of members that use each byte of the payload */
	unsigned char taken[STACKTRACK_ENTRY_MAX];
};

static int note_wrong_text(struct describe *d, const char *fmt, ...) FT_PRINTF(2, 3);

static int note_wrong_text(struct describe *d, const char *fmt, ...)
{
	const int length = snprintf(d->error, d->error_size, "line %zu: ", d->line);
	va_list args;

	va_start(args, fmt);
	if (length > 0 && (size_t)length < d->error_size)
		vsnprintf(d->error + length, d->error_size - (size_t)length, fmt, args);
	va_end(args);
	return -EBADMSG;
}

/* ---- Elements ---- */

static bool is_span(struct span span, const char *word)
{
	return strlen(word) == span.size && !memcmp(span.p, word, span.size);
}

/* Returns the length of the span for %.*s in a message: at most 40, and only up to the first blank or unprintable
 * character. */
static int stacktrack_describe_shown(struct span span)
{
	size_t size = 0;

	while (size < span.size && size < 40 && (unsigned char)span.p[size] > ' ' && (unsigned char)span.p[size] < 0x7f)
		size++;
	return (int)size;
}

static char next_char(struct describe *d)
{
	d->line += *d->p == '\n';
	return *d->p++;
}

static void pass_blanks(struct describe *d)
{
	while (d->p < d->end && strchr(" \t\r\n", *d->p) && *d->p)
		next_char(d);
}

/* Skips the description up to and including `text`. Returns false if the rest does not contain `text`. */
static bool pass_to(struct describe *d, const char *text)
{
	const size_t size = strlen(text);

	for (; d->p < d->end; next_char(d)) {
		if ((size_t)(d->end - d->p) < size || memcmp(d->p, text, size) != 0)
			continue;
		d->p += size;
		return true;
	}
	return false;
}

static struct span stacktrack_describe_name(struct describe *d)
{
	struct span span = {d->p, 0};

	while (d->p < d->end && *d->p && !strchr(" \t\r\n<>=/\"'", *d->p))
		d->p++;
	span.size = (size_t)(d->p - span.p);
	return span;
}

static int read_attribute(struct describe *d)
{
	struct stacktrack_describe_attribute attribute = {.name = stacktrack_describe_name(d)};

	if (!attribute.name.size || d->end - d->p < 2 || *d->p != '=' || (d->p[1] != '"' && d->p[1] != '\''))
		return note_wrong_text(d, "an attribute should be NAME=\"VALUE\"");
	const char quote = d->p[1];

	d->p += 2;
	attribute.value.p = d->p;
	while (d->p < d->end && *d->p != quote && *d->p != '<')
		next_char(d);
	if (d->p >= d->end || *d->p != quote)
		return note_wrong_text(d, "the value of %.*s has no end", stacktrack_describe_shown(attribute.name),
				       attribute.name.p);
	attribute.value.size = (size_t)(d->p++ - attribute.value.p);
	for (unsigned i = 0; i < d->attribute_count; i++)
		if (d->attributes[i].name.size == attribute.name.size &&
		    !memcmp(d->attributes[i].name.p, attribute.name.p, attribute.name.size))
			return note_wrong_text(d, "the attribute %.*s is there twice",
					       stacktrack_describe_shown(attribute.name), attribute.name.p);
	if (d->attribute_count == ATTRIBUTES_MAX)
		return note_wrong_text(d, "an element has more than %d attributes", ATTRIBUTES_MAX);
	d->attributes[d->attribute_count++] = attribute;
	return 0;
}

/* Parses the next element. Returns 1, 0 at the end of the description, or a negative errno. */
static int next_element(struct describe *d)
{
	int error;

	for (;;) {
		pass_blanks(d);
		if (d->p == d->end)
			return 0;
		if (*d->p++ != '<')
			return note_wrong_text(d, "this is no element: it should begin with <");
		if (d->end - d->p >= 3 && !memcmp(d->p, "!--", 3)) {
			if (!pass_to(d, "-->"))
				return note_wrong_text(d, "a comment has no end");
		} else if (d->p < d->end && *d->p == '?') {
			if (!pass_to(d, "?>"))
				return note_wrong_text(d, "the XML declaration has no end");
		} else {
			break;
		}
	}
	d->attribute_count = 0;
	d->closes = d->p < d->end && *d->p == '/';
	d->p += d->closes;
	d->tag = stacktrack_describe_name(d);
	if (!d->tag.size)
		return note_wrong_text(d, "an element has no name");
	for (pass_blanks(d); d->p < d->end && *d->p != '>' && *d->p != '/'; pass_blanks(d)) {
		error = read_attribute(d);
		if (error)
			return error;
	}
	d->is_empty = d->p < d->end && *d->p == '/';
	d->p += d->is_empty;
	if (d->p == d->end || *d->p != '>')
		return note_wrong_text(d, "the element %.*s has no end", stacktrack_describe_shown(d->tag), d->tag.p);
	d->p++;
	return 1;
}

/* ---- Attributes of elements ---- */

static const struct span *stacktrack_describe_find(const struct describe *d, const char *name)
{
	for (unsigned i = 0; i < d->attribute_count; i++)
		if (is_span(d->attributes[i].name, name))
			return &d->attributes[i].value;
	return NULL;
}

static int text_of(struct describe *d, const char *name, char text[NAME_MAX_SIZE])
{
	const struct span *value = stacktrack_describe_find(d, name);

	if (!value)
		return note_wrong_text(d, "%.*s has no attribute %s", stacktrack_describe_shown(d->tag), d->tag.p,
				       name);
	if (value->size >= NAME_MAX_SIZE || memchr(value->p, '\0', value->size))
		return note_wrong_text(d, "the value of %s is no name or number", name);
	memcpy(text, value->p, value->size);
	text[value->size] = '\0';
	return 0;
}

static int stacktrack_describe_number_of(struct describe *d, const char *name, unsigned min, unsigned max,
					 unsigned *number)
{
	char text[NAME_MAX_SIZE];
	uint64_t value = 0;
	const int error = text_of(d, name, text);

	if (error)
		return error;
	if (!parse_number(text, max, &value) || value < min)
		return note_wrong_text(d, "%s of %.*s is no number from %u to %u", name,
				       stacktrack_describe_shown(d->tag), d->tag.p, min, max);
	*number = (unsigned)value;
	return 0;
}

static int take_root(struct describe *d)
{
	struct stacktrack_format *const format = d->format;
	unsigned size = 0, payload = 0, at = 0, magic = 0;
	char text[NAME_MAX_SIZE];
	uint64_t version = 0;
	int error = text_of(d, "version", text);

	if (!error && !parse_number_hex(text, UINT32_MAX, &version))
		error = note_wrong_text(d, "version of RAW_FORMAT is no hexadecimal number of 32 bits");
	if (!error)
		error = stacktrack_describe_number_of(d, "magic", 0, UINT32_MAX, &magic);
	if (!error && magic != STACKTRACK_MAGIC)
		error = note_wrong_text(d, "the magic number is 0x%x; that of StackTrack is 0x%x", magic,
					STACKTRACK_MAGIC);
	if (!error)
		error = stacktrack_describe_number_of(d, "size", 1, STACKTRACK_ENTRY_MAX, &size);
	if (!error)
		error = stacktrack_describe_number_of(d, "payload_size", 1, STACKTRACK_ENTRY_MAX, &payload);
	if (!error)
		error = stacktrack_describe_number_of(d, "payload_offset", 1, STACKTRACK_ENTRY_MAX, &at);
	if (!error && at + payload > size)
		error = note_wrong_text(d, "an entry has %u bytes, and its payload of %u at byte %u does not fit in it",
					size, payload, at);
	*format = (struct stacktrack_format){.is_described = true,
					     .version = (unsigned)version,
					     .entry_size = size,
					     .payload_at = at,
					     .payload_size = payload,
					     .info_size = payload};
	memcpy(format->layouts, stacktrack_layouts, sizeof(format->layouts));
	d->has_root = true;
	return error;
}

static int stacktrack_describe_take_type(struct describe *d)
{
	char text[NAME_MAX_SIZE];
	unsigned index = 0;
	int error = text_of(d, "uname", text);

	if (!error)
		error = stacktrack_describe_number_of(d, "typeindex", 0, 255, &index);
	if (!error)
		error = stacktrack_describe_number_of(d, "size", 1, (unsigned)d->format->payload_size, &d->type_size);
	if (error)
		return error;
	for (d->type = 0; d->type < STACKTRACK_TYPES; d->type++)
		if (!strcmp(text, stacktrack_layouts[d->type].uname))
			break;
	memset(d->taken, 0, sizeof(d->taken));
	d->is_in_type = !d->is_empty;
	if (d->type == STACKTRACK_TYPES)
		return 0;
	if (d->has_type[d->type])
		return note_wrong_text(d, "TYPE %s is there twice", text);
	for (unsigned i = 0; i < STACKTRACK_TYPES; i++)
		if (d->has_type[i] && d->format->indexes[i] == index)
			return note_wrong_text(d, "TYPE %s has the typeindex %u of %s", text, index,
					       stacktrack_layouts[i].uname);
	d->has_type[d->type] = true;
	d->format->indexes[d->type] = index;
	d->format->layouts[d->type].size = d->type_size;
	return 0;
}

/* Checks that the member is inside its TYPE, has a size that can be read, and shares no byte with another member. */
static int stacktrack_describe_take_place(struct describe *d, const char *name, unsigned offset, unsigned size)
{
	if (offset + size > d->type_size)
		return note_wrong_text(d, "MEMBER %s has bytes %u to %u, but its TYPE has only %u bytes", name, offset,
				       offset + size - 1, d->type_size);
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return note_wrong_text(d, "MEMBER %s has %u bytes; 1, 2, 4 or 8 can be read", name, size);
	for (unsigned i = offset; i < offset + size; i++)
		if (d->taken[i]++)
			return note_wrong_text(d, "MEMBER %s has byte %u, which another MEMBER has, too", name, i);
	return 0;
}

static int take_member(struct describe *d)
{
	char text[NAME_MAX_SIZE];
	unsigned offset = 0, size = 0, i = 0;
	int error = d->is_in_type ? text_of(d, "name", text) : note_wrong_text(d, "a MEMBER is outside of a TYPE");

	if (!error)
		error = stacktrack_describe_number_of(d, "offset", 0, STACKTRACK_ENTRY_MAX, &offset);
	if (!error)
		error = stacktrack_describe_number_of(d, "size", 1, STACKTRACK_ENTRY_MAX, &size);
	if (!error)
		error = stacktrack_describe_take_place(d, text, offset, size);
	if (error || d->type == STACKTRACK_TYPES)
		return error;
	struct stacktrack_layout *const layout = &d->format->layouts[d->type];

	while (i < layout->member_count && strcmp(text, layout->members[i].name) != 0)
		i++;
	if (i == layout->member_count)
		return 0;
	if (d->has_member[d->type][i])
		return note_wrong_text(d, "MEMBER %s is there twice", text);
	d->has_member[d->type][i] = true;
	layout->members[i].offset = offset;
	layout->members[i].size = size;
	return 0;
}

static const char *const flag_names[] = {"TYPE_MASK", "IS_INFO", "HAS_INFO", "INFO_END"};

static int take_flag(struct describe *d)
{
	struct stacktrack_format *const format = d->format;
	unsigned *const places[] = {&format->type_mask, &format->is_info, &format->has_info, &format->info_end};
	char text[NAME_MAX_SIZE];
	unsigned value = 0;
	int error = text_of(d, "name", text);

	if (!error)
		error = stacktrack_describe_number_of(d, "value", 0, UINT16_MAX, &value);
	for (unsigned i = 0; !error && i < ARRAY_SIZE(flag_names); i++) {
		if (strcmp(text, flag_names[i]) != 0)
			continue;
		if (d->has_flag[i])
			return note_wrong_text(d, "FLAG %s is there twice", text);
		d->has_flag[i] = true;
		*places[i] = value;
	}
	for (unsigned i = 0; !error && i < STACKTRACK_TYPES; i++)
		if (!strncmp(text, "IS_", 3) && !strcmp(text + 3, stacktrack_layouts[i].uname) && d->has_type[i] &&
		    value != format->indexes[i])
			error = note_wrong_text(d, "FLAG %s is %u, but the typeindex of %s is %u", text, value,
						text + 3, format->indexes[i]);
	return error;
}

static int stacktrack_describe_take_end(struct describe *d)
{
	if (is_span(d->tag, "RAW_FORMAT") && !d->is_in_type) {
		d->is_over = true;
		return 0;
	}
	if (!is_span(d->tag, "TYPE") || !d->is_in_type)
		return note_wrong_text(d, "</%.*s> ends no element that is open here",
				       stacktrack_describe_shown(d->tag), d->tag.p);
	d->is_in_type = false;
	return 0;
}

static int take_element(struct describe *d)
{
	if (d->is_over)
		return note_wrong_text(d, "text follows </RAW_FORMAT>");
	if (!d->has_root)
		return is_span(d->tag, "RAW_FORMAT") && !d->closes && !d->is_empty
			       ? take_root(d)
			       : note_wrong_text(d, "a description begins with <RAW_FORMAT ...>");
	if (d->closes)
		return stacktrack_describe_take_end(d);
	if (is_span(d->tag, "MEMBER") && d->is_empty)
		return take_member(d);
	if (d->is_in_type)
		return note_wrong_text(d, "a TYPE has only elements <MEMBER .../>");
	if (is_span(d->tag, "TYPE"))
		return stacktrack_describe_take_type(d);
	if (is_span(d->tag, "FLAG") && d->is_empty)
		return take_flag(d);
	return note_wrong_text(d, "the element %.*s is unknown here", stacktrack_describe_shown(d->tag), d->tag.p);
}

/* ---- The whole description ---- */

static int check_members(struct describe *d, unsigned type)
{
	const struct stacktrack_layout *const layout = &d->format->layouts[type];

	if (!d->has_type[type])
		return note_wrong_text(d, "there is no TYPE with the uname %s", layout->uname);
	for (unsigned i = 0; i < layout->member_count; i++)
		if (!d->has_member[type][i])
			return note_wrong_text(d, "TYPE %s has no MEMBER %s", layout->uname, layout->members[i].name);
	return 0;
}

static int check_flags(struct describe *d)
{
	const struct stacktrack_format *const f = d->format;

	for (unsigned i = 0; i < ARRAY_SIZE(flag_names); i++)
		if (!d->has_flag[i])
			return note_wrong_text(d, "there is no FLAG %s", flag_names[i]);
	if (f->type_mask > 255)
		return note_wrong_text(d, "TYPE_MASK has more than the lower 8 bits");
	if (f->is_info & ~f->type_mask || (f->has_info | f->info_end) & f->type_mask || !f->has_info || !f->info_end ||
	    f->has_info & f->info_end)
		return note_wrong_text(d, "the FLAGs IS_INFO, HAS_INFO and INFO_END share bits");
	for (unsigned i = 0; i < STACKTRACK_TYPES; i++)
		if (f->indexes[i] & ~f->type_mask || f->indexes[i] == f->is_info)
			return note_wrong_text(d,
					       "the typeindex of %s is IS_INFO, or has bits that are not in TYPE_MASK",
					       f->layouts[i].uname);
	return 0;
}

/* Checks that the flags, the pid and the sequence number have room before the payload. */
static int check_head(struct describe *d)
{
	struct stacktrack_format *const format = d->format;

	if (format->layouts[STACKTRACK_PROCINFO].members[STACKTRACK_PROCINFO_PID].size > 4)
		return note_wrong_text(d, "the pid has more than 4 bytes");
	if (format->layouts[STACKTRACK_PROLOGUE].members[STACKTRACK_PROLOGUE_MAGIC].size != 4)
		return note_wrong_text(d, "_12345678 of PROLOGUE does not have 4 bytes");
	stacktrack_format_settle(format);
	if (format->sequence_at + 4 > format->payload_at)
		return note_wrong_text(
			d,
			"the payload begins at byte %zu, but the flags, a pid of %zu bytes and a sequence "
			"number of 4 bytes need %zu bytes before it",
			format->payload_at, format->process_size, format->sequence_at + 4);
	return 0;
}

static int stacktrack_describe_check(struct describe *d)
{
	int error = 0;

	if (!d->is_over)
		return note_wrong_text(d, d->has_root ? "the description has no </RAW_FORMAT>" : "this is empty");
	for (unsigned i = 0; !error && i < STACKTRACK_TYPES; i++)
		error = check_members(d, i);
	if (!error)
		error = check_flags(d);
	return error ? error : check_head(d);
}

int stacktrack_format_read(const char *text, size_t length, struct stacktrack_format *format, char *error, size_t size)
{
	struct describe *const d = xcalloc(1, sizeof(*d));
	int status;

	*d = (struct describe){
		.p = text, .end = text + length, .line = 1, .error = error, .error_size = size, .format = format};
	while ((status = next_element(d)) == 1) {
		status = take_element(d);
		if (status)
			break;
	}
	if (!status)
		status = stacktrack_describe_check(d);
	free(d);
	return status;
}
