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
	SWAP_TIME, /* seconds, nanoseconds */
	SWAP_F32,
	SWAP_F64,
	SWAP_STRING,
	SWAP_ARGUMENT,
	SWAP_ARGUMENTS, /* dword count, that many arguments */
	SWAP_LIST,      /* dword count, that many `items` */
	SWAP_BYTES,     /* dword size, that many bytes */
	SWAP_REST,      /* the rest of the payload */
};

/* Values that the reader uses; the others are only shown. */
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
	SLOT_ITEM_PATH, /* the last field of an item */
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

/* How often a field occurs: once, or once for each CPU or device. No message contains the number of these. */
enum swap_times { SWAP_ONCE, SWAP_CPUS, SWAP_DEVICES };

struct swap_field {
	const char *name;
	enum swap_type type;
	enum swap_slot slot;
	const struct swap_field *items;
	enum swap_times times;
	/* If not 0: the field is there only if the value of SLOT_KIND is from `from` to `to`. */
	uint32_t from, to;
	unsigned char plain; /* the size of a number that occurs always and once; 0 for any other field */
};

struct swap_format {
	uint32_t id;
	const char *name;
	const struct swap_field *fields;
	const struct swap_field *other; /* another layout, recognised by the payload's length; NULL if none */
};

/* Returns the format of an id, NULL if it is unknown. Probes with unknown ids have the fields that are common to all
 * probes. */
const struct swap_format *swap_format_of(uint32_t id);
/* The fields of MSG_SYSTEM, for use if the numbers of CPUs and devices are known. */
extern const struct swap_field swap_system_fields[];

#endif
