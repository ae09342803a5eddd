/* The state of the text reader.  Private to trace/. */
#ifndef FT_TRACE_TEXT_TEXT_READ_H
#define FT_TRACE_TEXT_TEXT_READ_H

#include "base/buf.h"
#include "trace/reader_state.h"
#include "trace/text/text_format.h"

/* Bounds of memory: of a line, the calls that wait for one stack, a stack, a call's arguments. */
#define TEXT_LINE_MAX   (1u << 20)
#define TEXT_GROUP_MAX  (64u << 20)
#define TEXT_GROUP_PART (256u << 10) /* at the next call after this, a part of a group is returned without the stack */
#define TEXT_FRAMES_MAX 65536
#define TEXT_ARGS_MAX   65536

struct text_resource {
	uint32_t id, flags;
	size_t length;
	char *type;
};

struct text_span { /* the text after a frame's address, by offsets in the group; both 0 if none */
	uint32_t begin, end;
};

struct text_reader {
	bool begun, stopped, compat;
	int status;
	struct day_clock clock;
	struct text_resource *resources;
	size_t resource_count, resource_capacity;
	bool has_nul; /* a NUL byte ends what can be read, at this offset */
	uint64_t nul_offset;
	uint64_t line;      /* the number of the line that is read */
	const char *damage; /* what is wrong with the line, for text_complain(); NULL if nothing */
	bool astray;        /* the last line was damaged: arguments and frames after it belonged to it */
	/* The group of calls that share a stack; it begins at reader->start and ends with the stack. */
	bool in_group, group_goes_on; /* group_goes_on: the stack comes after the next part */
	size_t group_at;              /* the next line of the group */
	size_t group_frames;          /* where its frames begin and its other lines end */
	size_t group_end;
	uint64_t group_lines; /* number of lines from group_frames to group_end */
	int group_status;     /* the status with which looking ahead ended; an error is returned after the group */
	uint64_t *frames;
	struct text_span *spans;
	const char **texts;
	size_t frame_count, frame_capacity;
	size_t text_count; /* frames with a text */
	enum stack_end end;
	uint32_t depth; /* of the trace's stacks; 0 if unknown */
	struct call_arg *args;
	size_t arg_capacity;
	struct baseline_block baseline; /* the block of the current line */
};

/* Reads the line that begins `from` bytes after data + start, with its newline. Returns 1 and the line's length; 0 at
 * the end; a negative errno, which was described. The data may move. */
int text_line(struct reader *reader, size_t from, size_t *length);

/* If a line looks wrong, the text_take_ functions below set s->damage to a clause that follows "line 7". */

/* Makes the header's record of a NUL-terminated line, which it changes. Returns false if it is no header. */
bool text_take_header(struct text_reader *s, char *line, struct record_process *process);

/* The call in a line; places are relative to the line. */
struct text_call {
	uint64_t index, time_ns, id, size;
	uint32_t context;
	bool release;
	size_t name, name_length; /* with the type, if there is one */
};

/* Parses a line, which has a newline at line[length]. Returns false if it is no call. */
bool text_parse_call(const char *line, size_t length, struct text_call *call);

/* Makes the record of a parsed call whose line is `line`; the line is changed. */
void text_take_call(struct text_reader *s, char *line, const struct text_call *parsed, struct record_call *record);

/* Returns whether a line is a call's argument. */
bool text_is_arg(const char *line);
/* Takes the argument of a NUL-terminated line, which it changes. */
struct call_arg text_take_arg(struct text_reader *s, char *line);

/* Makes the record of a line (NUL-terminated, changed) other than a call, header or heap line. Returns false
 * if the line is to be dropped. */
bool text_take_line(struct text_reader *s, char *line, struct record *record);

/* Returns whether a line ends as calls do, in `(0x602010)` or `(100) = 0x602010`, after some other text. */
bool text_ends_as_call(const char *line, size_t length);

/* Returns the bytes that begin `from` bytes after data + start. */
static inline char *text_at(const struct reader *reader, size_t from)
{
	return (char *)reader->data + reader->start + from;
}

void text_begin_lines(struct reader *reader); /* makes lines of what was read already: CR LF becomes LF */
/* Does the work of text_fill() if there are not enough bytes yet. */
size_t text_fill_slow(struct reader *reader, size_t want);

/* Reads as reader_fill() does, with the line ends CR LF read as LF. */
static inline size_t text_fill(struct reader *reader, size_t want)
{
	const size_t available = reader_available(reader);

	return available >= want ? available : text_fill_slow(reader, want);
}

/* Parses the frames that begin `from` bytes after data + start into s->frames. Returns where they end. Sets
 * s->group_lines to the number of their lines, and s->group_status on an error. The first line is number `line`. */
size_t text_take_frames(struct reader *reader, size_t from, uint64_t line);

/* Reports s->damage of line `line`, if there is any, and clears it. */
void text_complain(struct reader *reader, uint64_t line);

/* Returns whether a line begins with a tab and 0x. */
static inline bool text_is_frame(const char *line)
{
	return line[0] == '\t' && line[1] == '0' && line[2] == 'x';
}

static inline bool text_hex_digit(char c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* Parses up to 16 hexadecimal digits. Returns where they end; NULL if there is none or there are more. */
static inline const char *text_hex(const char *p, uint64_t *value)
{
	const char *const first = p;
	uint64_t v = 0;

	for (;; p++) {
		const unsigned c = (unsigned char)*p;

		if (c - '0' < 10)
			v = v << 4 | (c - '0');
		else if ((c | 0x20) - 'a' < 6)
			v = v << 4 | ((c | 0x20) - 'a' + 10);
		else
			break;
	}
	*value = v;
	return p > first && p - first <= 16 ? p : NULL;
}

/* Parses decimal digits. Returns where they end; NULL if there is none or the number has more than 64 bits. */
const char *text_decimal(const char *p, uint64_t *value);

#endif
