/* Messages of the SWAP data protocol, taken apart for the reader and the dump.  Private to trace/. */
#ifndef FT_TRACE_SWAP_SWAP_MESSAGE_H
#define FT_TRACE_SWAP_SWAP_MESSAGE_H

#include "trace/reader_state.h"
#include "trace/swap/swap.h"
#include "trace/swap/swap_fields.h"

#include <endian.h>
#include <string.h>

/* The most payload that a message of a known id may have; unknown ones are passed over, whatever their length. */
#define SWAP_READ_MAX (1u << 20)

struct swap_message {
	uint32_t id, sequence, seconds, nanoseconds, length;
	const struct swap_format *format; /* NULL: the id is unknown */
	const unsigned char *payload;
};

struct swap_value {
	const struct swap_field *field;
	unsigned depth;            /* 0 a field, 1 of an item, 2 of an item's item */
	uint32_t item;             /* which one of a list, of arguments or of repeated fields, from 0 on */
	uint64_t number;           /* of SWAP_LIST, SWAP_ARGUMENTS, SWAP_BYTES: the count */
	uint32_t nanoseconds;      /* of SWAP_TIME */
	double real;               /* of SWAP_F32, SWAP_F64 */
	const char *text;          /* of SWAP_STRING */
	const unsigned char *data; /* of SWAP_BYTES, SWAP_REST */
	struct swap_arg arg;       /* of SWAP_ARGUMENT, and of each of SWAP_ARGUMENTS */
	bool is_argument;          /* one of SWAP_ARGUMENTS */
	bool is_item;              /* only says that an item of a list begins */
};

struct swap_item {
	uint64_t low, high;
	const char *path;
};

/* What a message holds. */
struct swap_fields {
	uint64_t numbers[SLOTS]; /* of SLOT_NONE: no meaning */
	const char *texts[SLOTS];
	uint32_t start_ns;
	struct swap_item *items;
	size_t item_count, item_capacity;
	struct swap_arg *args;
	size_t arg_count, arg_capacity;
	struct swap_arg returned;
};

typedef void (*swap_visit)(void *context, const struct swap_value *value);

/* Whether these 20 bytes may be a message's head. */
bool swap_is_head(const unsigned char *head);

/* Calls `visit` for each value of the payload, in order. NULL, and *surplus bytes are left; or what there is no room
 * for, or the name of an argument that has no known type. */
const char *swap_walk(const struct swap_message *message, const struct dump_options *counts, swap_visit visit,
		      void *context, size_t *surplus);

/* The same for who looks at a message: most of what is but a number, and all arguments, go to `fields`, the rest to
 * `visit`, whose context they are. */
const char *swap_take_fields(const struct swap_message *message, swap_visit visit, struct swap_fields *fields);

/* Looks at the message that begins `ahead` bytes after the next. 1, with its payload in the buffer if its format is
 * known; 0 at the end, or where a live trace stands still; or a negative errno, described. */
int swap_peek(struct reader *reader, size_t ahead, struct swap_message *message);
/* Passes over it. 1, or a negative errno; 0 if only a wait for more was ended. */
int swap_pass(struct reader *reader, const struct swap_message *message);

/* reader_ops' dump. */
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
