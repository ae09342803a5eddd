/* Parses messages of the SWAP data protocol, for the reader and the dump. Private to trace/. */
#ifndef FT_TRACE_SWAP_SWAP_MESSAGE_H
#define FT_TRACE_SWAP_SWAP_MESSAGE_H

#include "trace/reader_state.h"
#include "trace/swap/swap.h"
#include "trace/swap/swap_fields.h"

#include <endian.h>
#include <string.h>

/* The largest payload of a message with a known id. A longer payload is damage. Messages with unknown ids are skipped,
 * whatever their length. */
#define SWAP_READ_MAX (1u << 20)

struct swap_message {
	uint32_t id, sequence, seconds, nanoseconds, length;
	const struct swap_format *format; /* NULL if the id is unknown */
	const unsigned char *payload;
};

struct swap_value {
	const struct swap_field *field;
	/* 0 for a field of the message, 1 for a field of a list's item, 2 for a field of an item in a nested list */
	unsigned depth;
	uint32_t item;             /* index in the list, the arguments or the repeated fields */
	uint64_t number;           /* the number; for SWAP_LIST, SWAP_ARGUMENTS and SWAP_BYTES the count */
	uint32_t nanoseconds;      /* for SWAP_TIME: the nanoseconds */
	double real;               /* for SWAP_F32 and SWAP_F64: the value */
	const char *text;          /* for SWAP_STRING: the value */
	const unsigned char *data; /* for SWAP_BYTES and SWAP_REST: the bytes */
	struct swap_arg arg;       /* the value of SWAP_ARGUMENT, or one argument of SWAP_ARGUMENTS */
	bool is_argument;          /* the value is one argument of SWAP_ARGUMENTS */
	bool is_item;              /* not a value, but the beginning of a list's item */
};

struct swap_item {
	uint64_t low, high;
	const char *path;
};

/* The values of a message that the reader uses. */
struct swap_fields {
	uint64_t numbers[SLOTS]; /* numbers[SLOT_NONE] has no meaning */
	const char *texts[SLOTS];
	uint32_t start_ns;
	struct swap_item *items;
	size_t item_count, item_capacity;
	struct swap_arg *args;
	size_t arg_count, arg_capacity;
	struct swap_arg returned;
};

typedef void (*swap_visit)(void *context, const struct swap_value *value);

/* Returns true if these 20 bytes may be a message's head. */
bool swap_is_head(const unsigned char *head);

/* Calls `visit`, which may be NULL, with `context` for each value of the payload, in order. counts: how many CPUs and
 * devices there are, to parse MSG_SYSTEM; may be NULL. Returns NULL, and sets *surplus to the number of bytes after the
 * last field. If the payload is damaged, returns the name of the field that exceeds it, or "an argument of an unknown
 * type". */
const char *swap_walk(const struct swap_message *message, const struct dump_options *counts, swap_visit visit,
		      void *context, size_t *surplus);

/* Like swap_walk(), but for the reader: stores all arguments and most numbers in `fields`, and calls `visit` with the
 * context `fields` for the other values. */
const char *swap_take_fields(const struct swap_message *message, swap_visit visit, struct swap_fields *fields);

/* Reads a message without skipping it: the head and, if the format is known, the payload. The message begins `ahead`
 * bytes after reader->start. Returns 1; 0 at the end of the input, or if a followed trace pauses; or a negative errno,
 * which has been described in reader->message. If `ahead` is not 0, returns 0 for any error. */
int swap_peek(struct reader *reader, size_t ahead, struct swap_message *message);
/* Skips the message. Returns 1; 0 if a signal ended the waiting for more bytes; or a negative errno. */
int swap_pass(struct reader *reader, const struct swap_message *message);

/* Implements reader_dump(). */
int swap_dump(struct reader *reader, const struct dump_options *options, struct buf *out);

static inline uint32_t swap_dword(const unsigned char *p)
{
	uint32_t bytes;

	memcpy(&bytes, p, sizeof(bytes));
	return le32toh(bytes);
}

static inline uint64_t swap_long(const unsigned char *p)
{
	uint64_t bytes;

	memcpy(&bytes, p, sizeof(bytes));
	return le64toh(bytes);
}

/* Return the floating-point number with these bits. */
static inline double swap_float(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return (double)value;
}

static inline double swap_double(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

#endif
