/* Formats characters, strings and string objects as literals of C. */
#include "config.h"
#include "args/value.h"
#include "base/terminal_escape.h"

#include <inttypes.h>
#include <stdio.h>

/* The reason why the shown part of a string ends. */
enum text_end {
	END_WHOLE,      /* the string ends there, too */
	END_CUT,        /* the rest of the string is not shown */
	END_UNREADABLE, /* the rest of the string cannot be read */
};

/* ---- Characters ---- */

bool is_text_char(const struct data_type *type)
{
	return type && type->kind == DATA_CHAR &&
	       (type->size == 1 || (!type->is_swapped && (type->size == 2 || type->size == 4)));
}

const char *char_prefix(const struct data_type *type)
{
	if (!type->name)
		return "";
	if (!strcmp(type->name, "wchar_t"))
		return "L";
	if (!strcmp(type->name, "char16_t"))
		return "u";
	return strcmp(type->name, "char32_t") ? "" : "U";
}

static void encode_utf8(uint32_t c, char text[8])
{
	unsigned char *t = (unsigned char *)text;

	if (c >= 0x10000) {
		*t++ = (unsigned char)(0xf0 | c >> 18);
		*t++ = (unsigned char)(0x80 | (c >> 12 & 0x3f));
	} else if (c >= 0x800) {
		*t++ = (unsigned char)(0xe0 | c >> 12);
	}
	if (c >= 0x800)
		*t++ = (unsigned char)(0x80 | (c >> 6 & 0x3f));
	else
		*t++ = (unsigned char)(0xc0 | c >> 6);
	*t++ = (unsigned char)(0x80 | (c & 0x3f));
	*t = '\0';
}

/* Decodes the UTF-8 character of several bytes at `bytes` into *c. left: number of bytes in the text from there on.
 * Returns the character's number of bytes, or 0 if the bytes are not valid UTF-8 or the character is not plain. Sets
 * *is_begun if the text ends in the middle of the character. */
static size_t decode_utf8(const unsigned char *bytes, size_t left, uint32_t *c, bool *is_begun)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char first = bytes[0];
	const size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;

	*is_begun = false;
	if (!length)
		return 0;
	*c = first & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if (i == left) {
			*is_begun = true;
			return 0;
		}
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (bytes[i] & 0x3f);
	}
	return *c < least[length] || !plain_character(*c) ? 0 : length;
}

/* Writes a byte as in a literal of C: an ASCII character, or a byte that is not part of a character. next: the
 * following character; if it is a digit, \0 before it would be read as another escape. */
static void escape_byte(unsigned char c, unsigned char next, char quote, char text[8])
{
	static const char named[] = "a\ab\bt\tn\nv\vf\fr\r";

	if (c >= ' ' && c < 0x7f && c != (unsigned char)quote && c != '\\') {
		text[0] = (char)c;
		text[1] = '\0';
		return;
	}
	for (const char *n = named; *n; n += 2)
		if (n[1] == (char)c) {
			snprintf(text, 8, "\\%c", n[0]);
			return;
		}
	if (c == (unsigned char)quote || c == '\\')
		snprintf(text, 8, "\\%c", c);
	else if (!c && (next < '0' || next > '7'))
		snprintf(text, 8, "\\0");
	else
		snprintf(text, 8, "\\x%02x", c); /* not octal: the text format of traces has octal escapes of its own */
}

static void escape_wide(uint32_t c, char text[12])
{
	if (plain_character(c))
		encode_utf8(c, text);
	else if (c <= 0xffff)
		snprintf(text, 12, "\\u%04x", c);
	else
		snprintf(text, 12, "\\U%08x", c);
}

static uint32_t read_code_unit(const unsigned char *bytes, unsigned width)
{
	uint16_t half;
	uint32_t whole;

	if (width == 1)
		return bytes[0];
	if (width == 2) {
		memcpy(&half, bytes, sizeof(half));
		return half;
	}
	memcpy(&whole, bytes, sizeof(whole));
	return whole;
}

/* ---- Texts ---- */

/* Adds the character that begins at index `at`. Returns how many elements of `bytes`, of `width` bytes each, the
 * character has. Returns 0 and adds nothing if the bytes end in the middle of the character. */
static size_t add_character(struct formatter *s, const unsigned char *bytes, size_t at, size_t count, unsigned width)
{
	const uint32_t c = read_code_unit(bytes + at * width, width);
	const uint32_t next = at + 1 < count ? read_code_unit(bytes + (at + 1) * width, width) : 0;
	const bool is_pair = width == 2 && c >= 0xd800 && c < 0xdc00 && next >= 0xdc00 && next < 0xe000;
	size_t length = 1;
	uint32_t decoded;
	bool is_begun = false;
	char text[12];

	if (c < 0x80) {
		escape_byte((unsigned char)c, next < 0x80 ? (unsigned char)next : 0, '"', text);
	} else if (is_pair) {
		escape_wide(0x10000 + ((c - 0xd800) << 10) + (next - 0xdc00), text);
		length = 2;
	} else if (width > 1) {
		escape_wide(c, text);
	} else {
		length = decode_utf8(bytes + at, count - at, &decoded, &is_begun);
		if (length)
			encode_utf8(decoded, text);
		else
			escape_byte((unsigned char)c, 0, '"', text);
	}
	if (is_begun)
		return 0;
	out_add(&s->out, text);
	return length ? length : 1;
}

static void show_text(struct formatter *s, const unsigned char *bytes, size_t count, unsigned width, const char *prefix,
		      enum text_end end)
{
	out_printf(&s->out, "%s\"", prefix);
	for (size_t at = 0; at < count && !s->out.is_full;) {
		size_t taken = add_character(s, bytes, at, count, width);

		/* A character that the limit cuts is left out. If the string itself, or its readable part, ends in the
		 * middle of a character, the character's bytes are shown. */
		if (!taken && end == END_CUT)
			break;
		if (!taken) {
			char text[8];

			escape_byte(bytes[at], 0, '"', text);
			out_add(&s->out, text);
			taken = 1;
		}
		at += taken;
	}
	out_quote(&s->out, "\"");
	if (end != END_WHOLE)
		out_add(&s->out, "...");
	if (end == END_UNREADABLE)
		out_add(&s->out, " (unreadable)");
}

/* Returns the number of characters before the first zero; returns `count` if there is no zero. */
static size_t value_text_length(const unsigned char *bytes, size_t count, unsigned width)
{
	size_t i = 0;

	while (i < count && read_code_unit(bytes + i * width, width))
		i++;
	return i;
}

void show_string(struct formatter *s, uint64_t address, unsigned width, const char *prefix, uint64_t most)
{
	const size_t wanted = most <= s->limit ? (size_t)most : s->limit + 1;
	size_t count, length;

	if (!address) {
		show_address(s, address);
		return;
	}
	count = wanted ? formatter_read_text(s, address, wanted * width) / width : 0;
	if (!count && wanted) {
		show_unreadable(s, address);
		return;
	}
	length = value_text_length(s->text, count, width);
	if (length < count || count == most)
		show_text(s, s->text, length, width, prefix, END_WHOLE);
	else if (count > s->limit)
		show_text(s, s->text, s->limit, width, prefix, END_CUT);
	else
		show_text(s, s->text, count, width, prefix, END_UNREADABLE);
}

void show_char_array(struct formatter *s, const struct data_type *type, const struct value_view *view)
{
	const unsigned width = (unsigned)type->target->size;
	const uint64_t count = type->count < view->size / width ? type->count : view->size / width;
	const size_t most = count < s->limit + 1 ? (size_t)count : s->limit + 1;
	const size_t length = value_text_length(view->bytes, most, width);
	const char *prefix = char_prefix(type->target);

	if (!type->count && view->address && s->texts) { /* the length is unknown: read up to a zero */
		s->texts--;
		show_string(s, view->address, width, prefix, UINT64_MAX);
	} else if (!type->count)
		out_add(&s->out, "[...]");
	else if (!count)
		show_missing(s, view);
	else if (length > s->limit)
		show_text(s, view->bytes, s->limit, width, prefix, END_CUT);
	else if (length < count || count == type->count)
		show_text(s, view->bytes, length, width, prefix, END_WHOLE);
	else
		show_text(s, view->bytes, length, width, prefix, view->is_cut ? END_CUT : END_UNREADABLE);
}

void show_char(struct formatter *s, const struct data_type *type, const struct value_view *view)
{
	const uint32_t c = (uint32_t)view_number(view, type->size, false);
	char text[12];

	if (!is_text_char(type)) {
		out_printf(&s->out, "0x%" PRIx64, view_number(view, type->size, false));
		return;
	}
	if (c < 0x80 || type->size == 1)
		escape_byte((unsigned char)c, 0, '\'', text);
	else
		escape_wide(c, text);
	out_printf(&s->out, "%s'%s'", char_prefix(type), text);
}

void show_quoted(struct formatter *s, const unsigned char *bytes, size_t count)
{
	if (count > s->limit)
		show_text(s, bytes, s->limit, 1, "", END_CUT);
	else
		show_text(s, bytes, count, 1, "", END_WHOLE);
}

void show_counted_bytes(struct formatter *s, uint64_t address, uint64_t count)
{
	const size_t shown = count < s->limit ? (size_t)count : s->limit;
	size_t read;

	if (!address) {
		show_address(s, address);
		return;
	}
	read = shown ? formatter_read_text(s, address, shown) : 0;
	if (shown && !read)
		show_unreadable(s, address);
	else
		show_text(s, s->text, read, 1, "", read < shown ? END_UNREADABLE : shown < count ? END_CUT : END_WHOLE);
}

/* ---- String objects ---- */

/* Shows `length` bytes of text at an address, which may be in the string object itself. */
static void show_counted(struct formatter *s, const struct value_view *object, uint64_t address, uint64_t length,
			 enum follow follow)
{
	const size_t shown = length < s->limit ? (size_t)length : s->limit;
	const bool is_inside = object->address && address >= object->address &&
			       address - object->address <= object->size &&
			       shown <= object->size - (address - object->address);

	if (is_inside) {
		show_text(s, object->bytes + (address - object->address), shown, 1, "",
			  shown < length ? END_CUT : END_WHOLE);
		return;
	}
	if (!length) {
		show_text(s, object->bytes, 0, 1, "", END_WHOLE);
		return;
	}
	if (follow == FOLLOW_NOT) {
		out_printf(&s->out, "<%" PRIu64 " bytes at 0x%" PRIx64 ">", length, address);
		return;
	}
	show_counted_bytes(s, address, length);
}

/* Shows a string object that is a pointer to its text. Before the text are its length, its capacity and a reference
 * count, one word each. */
static void show_counted_before(struct formatter *s, const struct value_view *object, enum follow follow)
{
	const unsigned word = s->source->arch->pointer_size, before = 3 * word;
	const uint64_t address = view_pointer(s, object);
	struct value_view head = {.bytes = s->text};
	uint64_t length;

	if (follow == FOLLOW_NOT || !address) {
		show_address(s, address);
		return;
	}
	const size_t count = formatter_read_text(s, address - before, before + s->limit);

	if (count < before) {
		show_unreadable(s, address);
		return;
	}
	head.size = word;
	length = view_number(&head, word, false);
	if (length <= count - before)
		show_text(s, s->text + before, (size_t)length, 1, "", END_WHOLE);
	else
		show_text(s, s->text + before, count - before, 1, "",
			  count == before + s->limit ? END_CUT : END_UNREADABLE);
}

/* Shows a string object of three words. If the lowest bit of the first byte is set, the words are the capacity, the
 * length and the pointer. Else the first byte is twice the length, and the text follows this byte. */
static void show_inline(struct formatter *s, const struct value_view *object, enum follow follow)
{
	const unsigned word = s->source->arch->pointer_size;
	const struct value_view length = view_part(object, word, word),
				pointer = view_part(object, 2 * (uint64_t)word, word);

	if (object->size < 3 * (uint64_t)word) {
		show_missing(s, object);
	} else if (object->bytes[0] & 1) {
		show_counted(s, object, view_pointer(s, &pointer), view_pointer(s, &length), follow);
	} else {
		const size_t size = object->bytes[0] >> 1, room = 3 * word - 1, most = size < room ? size : room;

		show_text(s, object->bytes + 1, most < s->limit ? most : s->limit, 1, "",
			  most <= s->limit ? END_WHOLE : END_CUT);
	}
}

void show_text_object(struct formatter *s, const struct data_type *type, const struct value_view *view,
		      enum follow follow)
{
	const unsigned word = s->source->arch->pointer_size;
	const struct value_view pointer = view_part(view, type->text_at, word);
	const struct value_view length = view_part(view, type->length_at, word);

	if (type->kind == DATA_TEXT_COUNTED)
		show_counted_before(s, view, follow);
	else if (type->kind == DATA_TEXT_INLINE)
		show_inline(s, view, follow);
	else if (pointer.size < word || length.size < word)
		show_missing(s, view);
	else
		show_counted(s, view, view_pointer(s, &pointer), view_pointer(s, &length), follow);
}
