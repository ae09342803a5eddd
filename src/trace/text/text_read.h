/* The state of the text reader.  Private to trace/. */
#ifndef FT_TRACE_TEXT_TEXT_READ_H
#define FT_TRACE_TEXT_TEXT_READ_H

#include "base/buf.h"
#include "trace/reader_state.h"
#include "trace/text/text_format.h"

/* Limits: bytes of a line, bytes of a group of calls that share a stack, frames of a stack, arguments of a call. */
#define TEXT_LINE_MAX   (1u << 20)
#define TEXT_GROUP_MAX  (64u << 20)
#define TEXT_GROUP_PART (256u << 10) /* a longer group is returned in parts, all but the last without the stack */
#define TEXT_FRAMES_MAX 65536
#define TEXT_ARGS_MAX   65536

struct text_resource {
	uint32_t id, flags;
	size_t length;
	char *type;
};

struct text_span { /* the text after a frame's address, as offsets in the group; both 0 if there is no text */
	uint32_t begin, end;
};

struct text_reader {
	bool begun, stopped, compat;
	int status;
	struct day_clock clock;
	struct text_resource *resources;
	size_t resource_count, resource_capacity;
	bool has_nul; /* the input contains a NUL byte at nul_offset; nothing after it is read */
	uint64_t nul_offset;
	uint64_t line;      /* number of the current line */
	const char *damage; /* clause about damage in the current line, for text_complain(); NULL if it is sound */
	bool astray;        /* the last line was damaged, so following arguments and frames belong to it */
	/* A group of calls that share a stack, from reader->start to the end of the stack. The offsets are relative to
	 * reader->start. group_goes_on: this is only a part of a group, and the stack follows after a later part. */
	bool in_group, group_goes_on;
	size_t group_at;     /* offset of the group's next line to be returned */
	size_t group_frames; /* end of the group's calls and beginning of its frames */
	size_t group_end;
	uint64_t group_lines; /* number of lines from group_frames to group_end */
	int group_status;     /* result of the search for the group's end; errors are returned after the records */
	uint64_t *frames;
	struct text_span *spans;
	const char **texts;
	size_t frame_count, frame_capacity;
	size_t text_count; /* number of frames that have a text */
	enum stack_end end;
	uint32_t depth; /* maximum number of frames of a stack, as the header says; 0 if unknown */
	struct call_arg *args;
	size_t arg_capacity;
	struct baseline_block baseline; /* the block of the current line */
};

/* Reads the line at data + start + from up to its newline. Returns 1 and sets *length to its length without newline;
 * 0 at the end of the input; a negative errno, which has been described in reader->message. The data may move. */
int text_line(struct reader *reader, size_t from, size_t *length);

/* If a line looks damaged, the text_take_ functions below set s->damage to a clause, to be printed after "line 7". */

/* Parses a NUL-terminated header line, and changes the line. Returns false if it is no header. */
bool text_take_header(struct text_reader *s, char *line, struct record_process *process);

/* A parsed line of a call. */
struct text_call {
	uint64_t index, time_ns, id, size;
	uint32_t context;
	bool release;
	size_t name, name_length; /* offset and length of the function's name, with the type if the line has one */
};

/* Parses a line that ends with a newline at line[length]. Returns false if it is no call. */
bool text_parse_call(const char *line, size_t length, struct text_call *call);

/* Sets *record to a parsed call. `line` is its line, which is changed. */
void text_take_call(struct text_reader *s, char *line, const struct text_call *parsed, struct record_call *record);

/* Returns true if a line is an argument of a call. */
bool text_is_arg(const char *line);
/* Parses the argument in a NUL-terminated line, which is changed. */
struct call_arg text_take_arg(struct text_reader *s, char *line);

/* Parses and changes a NUL-terminated line other than a call, header or heap line. Returns false if it is ignored. */
bool text_take_line(struct text_reader *s, char *line, struct record *record);

/* Returns true if a line ends like a call, in `(0x602010)` or `(100) = 0x602010`, after some other text. */
bool text_ends_as_call(const char *line, size_t length);

/* Returns the address data + start + from. */
static inline char *text_at(const struct reader *reader, size_t from)
{
	return (char *)reader->data + reader->start + from;
}

void text_begin_lines(struct reader *reader); /* converts CR LF to LF in the bytes that are in the buffer already */
/* Implements text_fill() if there are not enough bytes in the buffer. */
size_t text_fill_slow(struct reader *reader, size_t want);

/* Reads as reader_fill() does, but converts the line end CR LF to LF. */
static inline size_t text_fill(struct reader *reader, size_t want)
{
	const size_t available = reader_available(reader);

	return available >= want ? available : text_fill_slow(reader, want);
}

/* Parses the frames at data + start + from into s->frames. line: number of their first line. Returns the offset of
 * their end. Sets s->group_lines to the number of their lines, and s->group_status on an error. */
size_t text_take_frames(struct reader *reader, size_t from, uint64_t line);

/* Reports s->damage for line number `line` if it is set, and clears it. */
void text_complain(struct reader *reader, uint64_t line);

/* Returns true if a line begins with a tab and "0x", like a frame. */
static inline bool text_is_frame(const char *line)
{
	return line[0] == '\t' && line[1] == '0' && line[2] == 'x';
}

static inline bool text_hex_digit(char c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* Parses hexadecimal digits. Returns the address after them; NULL if there are no digits or more than 16. */
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

/* Parses decimal digits. Returns the address after them; NULL if there are no digits or they exceed 64 bits. */
const char *text_decimal(const char *p, uint64_t *value);

#endif
