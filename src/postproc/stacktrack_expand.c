#include "config.h"
#include "postproc/stacktrack_expand.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/msg.h"
#include "base/terminal_escape.h"
#include "trace/trace_input.h"
#include "trace/stacktrack/stacktrack_layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define READ_SIZE (64u << 10)

struct expand {
	const char *name;
	FILE *out;
	struct expand_options options;
	bool begun, swap;
	struct stacktrack_format format;
	uint64_t at; /* offset of the next entry in the trace, in bytes */
	/* pid -> ticks per second (divisors), and ticks at the start of the process (starts). */
	struct hash divisors, starts;
};

/* Writes the text of an attribute, with '?' for characters that XML does not allow or a terminal would obey. */
static void stacktrack_expand_put_text(FILE *out, const unsigned char *bytes, size_t size)
{
	char *const text = xstrndup((const char *)bytes, size);

	for (const char *c = text; *c;) {
		const size_t length = plain_size(c);

		if (*c == '&' || *c == '<' || *c == '>' || *c == '"')
			fputs(*c == '&' ? "&amp;" : *c == '<' ? "&lt;" : *c == '>' ? "&gt;" : "&quot;", out);
		else if (*c == '\t')
			fputs("&#9;", out);
		else
			fwrite(length ? c : "?", 1, length ? length : 1, out);
		c += length ? length : 1;
	}
	free(text);
}

/* Writes an attribute with four hexadecimal digits. If padded_right and options.pad_right are set, fills up with zeros
 * after the digits, like a C++ stream with std::left. */
static void stacktrack_expand_put_hex(const struct expand *e, const char *name, uint64_t value, bool padded_right)
{
	char digits[8];

	if (padded_right && e->options.pad_right) {
		int length = snprintf(digits, sizeof(digits), "%" PRIx64, value & 0xffff);

		while (length < 4)
			digits[length++] = '0';
		digits[length] = '\0';
	} else {
		snprintf(digits, sizeof(digits), "%04" PRIx64, value & 0xffff);
	}
	fprintf(e->out, " %s=\"0x%s\"", name, digits);
}

static uint64_t stacktrack_expand_process_of(const struct expand *e, const unsigned char *entry)
{
	return stacktrack_number(entry + e->format.process_at, e->format.process_size, e->swap);
}

static void stacktrack_expand_put_head(const struct expand *e, const char *tag, const unsigned char *entry,
				       bool is_info)
{
	fprintf(e->out, "<%s", tag);
	stacktrack_expand_put_hex(e, "flags", stacktrack_number(entry, 2, e->swap), !is_info);
	stacktrack_expand_put_hex(e, "pid", stacktrack_expand_process_of(e, entry), !is_info);
	fprintf(e->out, " seq=\"%" PRIu64 "\"", stacktrack_number(entry + e->format.sequence_at, 4, e->swap));
}

static double stacktrack_expand_seconds(const struct expand *e, uint64_t pid, int64_t ticks)
{
	const uint64_t *divisor = hash_get(&e->divisors, pid);

	return (double)ticks / (divisor && *divisor ? (double)(int64_t)*divisor : (double)STACKTRACK_TICKS);
}

static void put_member(const struct expand *e, const struct stacktrack_member *member, const unsigned char *entry)
{
	const uint64_t value = stacktrack_member(&e->format, member, entry, e->swap);
	const uint64_t pid = stacktrack_expand_process_of(e, entry);
	const uint64_t *start = hash_get(&e->starts, pid);
	const char *name = member->name;

	if (e->options.well_formed && !strcmp(name, "pid"))
		name = "process";
	switch (member->kind) {
	case STACKTRACK_TIME:
		fprintf(e->out, " %s=\"%f\"", name,
			stacktrack_expand_seconds(e, pid, (int64_t)(value - (start ? *start : 0))));
		break;
	case STACKTRACK_DIVISOR:
		fprintf(e->out, " %s=\"%f\"", name, stacktrack_expand_seconds(e, pid, (int64_t)value));
		break;
	case STACKTRACK_SIGNED:
		fprintf(e->out, " %s=\"%" PRId64 "\"", name, (int64_t)value);
		break;
	case STACKTRACK_UNSIGNED:
		fprintf(e->out, " %s=\"%" PRIu64 "\"", name, value);
		break;
	case STACKTRACK_HEX:
		stacktrack_expand_put_hex(e, name, value, false);
		break;
	}
}

static void note_time(struct expand *e, unsigned type, const unsigned char *entry)
{
	const struct stacktrack_member *const members = e->format.layouts[type].members;
	const uint64_t pid = stacktrack_expand_process_of(e, entry);

	if (type == STACKTRACK_TIMETYPE)
		hash_set(&e->divisors, pid,
			 stacktrack_member(&e->format, &members[STACKTRACK_TIMETYPE_DIVISOR], entry, e->swap));
	if (type == STACKTRACK_TIMEINFO)
		hash_set(&e->starts, pid,
			 stacktrack_member(&e->format, &members[STACKTRACK_TIMEINFO_TICKS], entry, e->swap));
}

static void put_entry(struct expand *e, const unsigned char *entry)
{
	const unsigned type = stacktrack_type(&e->format, (unsigned)stacktrack_number(entry, 2, e->swap));

	if (type == STACKTRACK_IS_INFO) {
		stacktrack_expand_put_head(e, "INFO", entry, true);
		fputs(" text=\"", e->out);
		stacktrack_expand_put_text(e->out, entry + e->format.payload_at, e->format.info_size);
		fputs("\"/>\n", e->out);
		return;
	}
	if (type >= STACKTRACK_TYPES) {
		stacktrack_expand_put_head(e, "UNKNOWN", entry, false);
		fputs("/>\n", e->out);
		return;
	}
	const struct stacktrack_layout *layout = &e->format.layouts[type];

	note_time(e, type, entry);
	stacktrack_expand_put_head(e, layout->uname, entry, false);
	for (unsigned i = 0; i < layout->member_count; i++)
		put_member(e, &layout->members[i], entry);
	fputs("/>\n", e->out);
}

/* Parses the first entry, the prologue, to find the size of entries and the byte order. Returns false after a
 * message. */
static bool stacktrack_expand_begin(struct expand *e, const unsigned char *p, size_t size)
{
	char clause[160];
	size_t at;

	if (size < stacktrack_prologue_size(&e->format) || !stacktrack_is_prologue(&e->format, p, &e->swap)) {
		msg_error("%s: the input is no StackTrack trace%s", e->name,
			  e->format.is_described ? " with entries as --raw-format describes them"
						 : ", or has entries of another layout: give their description with "
						   "--raw-format");
		return false;
	}
	e->begun = stacktrack_format_begin(&e->format, p, e->swap, &at, clause, sizeof(clause));
	if (!e->begun)
		msg_error("%s: %s", e->name, clause);
	return e->begun;
}

/* Writes the complete entries at the beginning of `data`, and removes them from `data`. is_end: no more data follow.
 * Returns false after a message. */
static bool put_entries(struct expand *e, struct buf *data, bool is_end)
{
	size_t at = 0;

	if (!e->begun && (is_end || data->size >= stacktrack_prologue_size(&e->format)) &&
	    !stacktrack_expand_begin(e, data->data, data->size))
		return false;
	for (; e->begun && data->size - at >= e->format.entry_size; at += e->format.entry_size)
		put_entry(e, data->data + at);
	e->at += at;
	memmove(data->data, data->data + at, data->size - at);
	data->size -= at;
	if (!is_end || !data->size)
		return true;
	msg_error("%s: the trace is cut off within an entry that begins at byte %" PRIu64, e->name, e->at);
	return false;
}

bool stacktrack_expand(int in, const char *name, FILE *out, const struct expand_options *options)
{
	struct expand e = {.name = name, .out = out, .options = *options};
	struct input *input = input_new(in, false, NULL);
	struct buf data = {0};
	ssize_t got;
	bool sound;

	if (options->layout)
		e.format = *options->layout;
	else
		stacktrack_format_init(&e.format);
	if (options->well_formed)
		fputs("<EVENTS>\n", out);
	do {
		got = input_read(input, buf_room(&data, READ_SIZE), READ_SIZE);
		if (got > 0)
			data.size += (size_t)got;
		sound = put_entries(&e, &data, got <= 0);
	} while (sound && got > 0);
	if (options->well_formed)
		fputs("</EVENTS>\n", out);
	if (got < 0) {
		msg_error("%s: the file cannot be read to its end", name);
		sound = false;
	}
	input_free(input);
	buf_free(&data);
	hash_free(&e.divisors);
	hash_free(&e.starts);
	return sound;
}

static void show_member(FILE *out, const struct stacktrack_member *member)
{
	fprintf(out, "<MEMBER name=\"%s\" type=\"%s\" size=\"%u\" offset=\"%u\" desc=\"%s\"/>\n", member->name,
		member->type, member->size, member->offset, member->desc);
}

void stacktrack_show_format(FILE *out)
{
	fprintf(out,
		"<RAW_FORMAT version=\"%x\" size=\"%d\" payload_size=\"%d\" payload_offset=\"%d\" magic=\"0x%08x\" "
		"magic_raw=\"0x78563412\">\n",
		STACKTRACK_VERSION, STACKTRACK_ENTRY, STACKTRACK_INFO, STACKTRACK_PAYLOAD, STACKTRACK_MAGIC);
	for (unsigned i = 0; i < STACKTRACK_TYPES; i++) {
		const struct stacktrack_layout *layout = &stacktrack_layouts[i];

		fprintf(out,
			"<TYPE uname=\"%s\" name=\"%s\" typeindex=\"%u\" type=\"ev_%s\" size=\"%u\" followedby=\"%s\" "
			"desc=\"%s\">\n",
			layout->uname, layout->name, i, layout->name, layout->size, layout->followedby, layout->desc);
		for (unsigned m = 0; m < layout->member_count; m++)
			show_member(out, &layout->members[m]);
		fputs("</TYPE>\n", out);
	}
	for (unsigned i = 0; i < STACKTRACK_TYPES; i++)
		fprintf(out, "<FLAG name=\"IS_%s\" value=\"0x%04x\"/>\n", stacktrack_layouts[i].uname, i);
	fprintf(out,
		"<FLAG name=\"IS_INFO\" value=\"0x%04x\"/>\n<FLAG name=\"TYPE_MASK\" value=\"0x%04x\"/>\n"
		"<FLAG name=\"HAS_INFO\" value=\"0x%04x\"/>\n<FLAG name=\"INFO_END\" value=\"0x%04x\"/>\n"
		"</RAW_FORMAT>\n",
		STACKTRACK_IS_INFO, STACKTRACK_TYPE_MASK, STACKTRACK_HAS_INFO, STACKTRACK_INFO_END);
}
