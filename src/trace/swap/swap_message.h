/* Parses messages of the SWAP data protocol, for the reader and the dump. Private to trace/. */
#ifndef FT_TRACE_SWAP_SWAP_MESSAGE_H
#define FT_TRACE_SWAP_SWAP_MESSAGE_H

#include "trace/reader_state.h"
#include "trace/swap/swap.h"
#include "trace/swap/swap_fields.h"

#include <endian.h>
#include <string.h>

/* The largest payload of a message with a known id. Messages with unknown ids are skipped, whatever their length. */
#define SWAP_READ_MAX (1u << 20)

struct swap_message {
	uint32_t id, sequence, seconds, nanoseconds, length;
	const struct swap_format *format; /* NULL if the id is unknown */
	const unsigned char *payload;
};

struct swap_value {
	const struct swap_field *field;
	unsigned depth;            /* 0 for a field of the message, 1 for one of an item, 2 for one of an item's item */
	uint32_t item;             /* index in a list, in arguments or in repeated fields */
	uint64_t number;           /* of SWAP_LIST, SWAP_ARGUMENTS, SWAP_BYTES: the count */
	uint32_t nanoseconds;      /* of SWAP_TIME */
	double real;               /* of SWAP_F32, SWAP_F64 */
	const char *text;          /* of SWAP_STRING */
	const unsigned char *data; /* of SWAP_BYTES, SWAP_REST */
	struct swap_arg arg;       /* of SWAP_ARGUMENT, and of each of SWAP_ARGUMENTS */
	bool is_argument;          /* one of SWAP_ARGUMENTS */
	bool is_item;              /* no value: an item of a list begins */
};

struct swap_item {
	uint64_t low, high;
	const char *path;
};

/* The values of a message that the reader uses. */
struct swap_fields {
	uint64_t numbers[SLOTS]; /* that of SLOT_NONE has no meaning */
	const char *texts[SLOTS];
	uint32_t start_ns;
	struct swap_item *items;
	size_t item_count, item_capacity;
	struct swap_arg *args;
	size_t arg_count, arg_capacity;
	struct swap_arg returned;
};

typedef void (*swap_visit)(void *context, const struct swap_value *value);

/* Returns whether these 20 bytes may be a message's head. */
bool swap_is_head(const unsigned char *head);

/* Calls `visit` for each value of the payload, in order. Returns NULL, and in *surplus the number of bytes left; or, if
 * the payload is damaged, the name of the part that has no room, or words for an argument of an unknown type. */
const char *swap_walk(const struct swap_message *message, const struct dump_options *counts, swap_visit visit,
		      void *context, size_t *surplus);

/* Does the same for the reader: puts most numbers and all arguments into `fields`, and passes the other values to
 * `visit`, whose context is `fields`. */
const char *swap_take_fields(const struct swap_message *message, swap_visit visit, struct swap_fields *fields);

/* Reads the head of the message that begins `ahead` bytes after the next message begins and, if its format is known,
 * its payload into the buffer. Returns 1; 0 at the end, or if a live trace pauses; or a negative errno, which has been
 * described. With `ahead` not 0, returns 0 for any error. */
int swap_peek(struct reader *reader, size_t ahead, struct swap_message *message);
/* Skips the message. Returns 1, or a negative errno; 0 if only a signal ended the waiting for more. */
int swap_pass(struct reader *reader, const struct swap_message *message);

/* Does what reader_dump() promises. */
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

#endif
