/* The table of the SWAP data protocol's messages and their fields, for the reader and the dump. Private to trace/. */
#ifndef FT_TRACE_SWAP_SWAP_FIELDS_H
#define FT_TRACE_SWAP_SWAP_FIELDS_H

#include <stdint.h>

enum swap_type {
	SWAP_END,
	SWAP_U8,
	SWAP_U32,
	SWAP_I32,
	SWAP_HEX32,
	SWAP_U64,
	SWAP_ADDRESS,
	SWAP_TIME, /* dword seconds, dword nanoseconds */
	SWAP_F32,
	SWAP_F64,
	SWAP_STRING,
	SWAP_ARGUMENT,
	SWAP_ARGUMENTS, /* dword count, then `count` arguments */
	SWAP_LIST,      /* dword count, then `count` times the fields in `items` */
	SWAP_BYTES,     /* dword size, then `size` bytes */
	SWAP_REST,      /* the rest of the payload */
};

/* Names for the values that the reader uses. Other values have SLOT_NONE and are only dumped. */
enum swap_slot {
	SLOT_NONE,
	SLOT_PID,
	SLOT_TID,
	SLOT_PPID,
	SLOT_TEXT,
	SLOT_PATH,
	SLOT_START,
	SLOT_LOW,
	SLOT_HIGH,
	SLOT_ITEM_LOW,
	SLOT_ITEM_HIGH,
	SLOT_ITEM_PATH, /* the path of an item; always the item's last field */
	SLOT_PC,
	SLOT_CALLER,
	SLOT_KIND,
	SLOT_API,
	SLOT_ARGS,
	SLOT_RETURN,
	SLOT_ERRNO,
	SLOT_SIZE,
	SLOT_ADDRESS,
	SLOT_HANDLE,
	SLOTS,
};

/* How often a field occurs: once, or once for each CPU or device. Messages do not say how many CPUs and devices there
 * are. */
enum swap_times { SWAP_ONCE, SWAP_CPUS, SWAP_DEVICES };

struct swap_field {
	const char *name;
	enum swap_type type;
	enum swap_slot slot;
	const struct swap_field *items;
	enum swap_times times;
	/* If `from` is not 0, the message has the field only if the value of SLOT_KIND is from `from` to `to`. */
	uint32_t from, to;
	unsigned char plain; /* size in bytes, if the field is a number that always occurs once; else 0 */
};

struct swap_format {
	uint32_t id;
	const char *name;
	const struct swap_field *fields;
	/* a second layout of the message; NULL if it has only one. See is_other() in swap_message.c */
	const struct swap_field *other;
};

/* Returns the format of the messages with that id; NULL if the id is unknown. For unknown ids from SWAP_PROBE_FIRST to
 * SWAP_PROBE_LAST, returns a format with the fields that all probe messages have. */
const struct swap_format *swap_format_of(uint32_t id);
/* The fields of MSG_SYSTEM. They can be parsed only if it is known how many CPUs and devices there are. */
extern const struct swap_field swap_system_fields[];

#endif
