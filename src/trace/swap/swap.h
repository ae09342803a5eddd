/* Definitions of the SWAP data protocol, for its writer, its reader and its dump. Private to trace/.
 *
 * A file is a sequence of messages, without a header or a trailer. All numbers are little-endian and packed; strings
 * end in NUL; pointers have 8 bytes. functrace-formats(5) describes what functrace adds. */
#ifndef FT_TRACE_SWAP_SWAP_H
#define FT_TRACE_SWAP_SWAP_H

#include "base/buf.h"
#include "trace/event.h"

/* size of a head in bytes; its dwords are: id, sequence number, seconds, nanoseconds, length of the payload */
#define SWAP_HEAD 20
/* The largest payload that the protocol's original writer produces, in bytes. */
#define SWAP_PAYLOAD_MAX 32747

/* The largest size of an open file in a MSG_PROCESS_STATUS_INFO, in bytes. If such a message seems to contain a larger
 * size, it has the second layout, in which these bytes are part of a path. */
#define SWAP_FILE_SIZE_MAX ((UINT64_C(1) << 48) - 1)

enum swap_id {
	SWAP_PROCESS_INFO = 0x01,
	SWAP_TERMINATE = 0x02,
	SWAP_ERROR = 0x03,
	SWAP_SAMPLE = 0x04,
	SWAP_SYSTEM = 0x05,
	SWAP_IMAGE = 0x06,
	SWAP_RECORD = 0x07,
	SWAP_FUNCTION_ENTRY = 0x08,
	SWAP_FUNCTION_EXIT = 0x09,
	SWAP_SYSCALL_ENTRY = 0x0a,
	SWAP_SYSCALL_EXIT = 0x0b,
	SWAP_FILE_FUNCTION_ENTRY = 0x0c,
	SWAP_FILE_FUNCTION_EXIT = 0x0d,
	SWAP_PROCESS_STATUS_INFO = 0x0e,
	SWAP_CONTEXT_SWITCH_ENTRY = 0x10,
	SWAP_CONTEXT_SWITCH_EXIT = 0x11,
	SWAP_PROCESS_MAP = 0x12,
	SWAP_PROCESS_UNMAP = 0x13,
	SWAP_PROCESS_COMM = 0x14,
	SWAP_WEB_SAMPLING = 0x15,
	SWAP_APP_SETUP_STAGE = 0x19,
	SWAP_WEB_APP_SETUP_STAGE = 0x1a,
	SWAP_FBI = 0x20,
	SWAP_UI_HIERARCHY = 0x21,
	SWAP_LSAN = 0x22,
	SWAP_PROBE_FIRST = 0x100,
	SWAP_PROBE_MEMORY = 0x101,
	SWAP_PROBE_UICONTROL = 0x102,
	SWAP_PROBE_UIEVENT = 0x103,
	SWAP_PROBE_FILE = 0x104,
	SWAP_PROBE_LIFECYCLE = 0x105,
	SWAP_PROBE_SCREENSHOT = 0x106,
	SWAP_PROBE_SCENE = 0x107,
	SWAP_PROBE_THREAD = 0x108,
	SWAP_PROBE_CUSTOM = 0x109,
	SWAP_PROBE_SYNC = 0x110,
	SWAP_PROBE_NETWORK = 0x111,
	SWAP_PROBE_GLES20 = 0x112,
	SWAP_PROBE_LAST = 0x1ff,
};

enum swap_memory { SWAP_ALLOC, SWAP_FREE, SWAP_MANAGE };

/* ---- Arguments ---- */

/* An argument of a call. Its type is a letter. */
struct swap_arg {
	char type;
	uint32_t count; /* for D, F, W: number of items */
	/* for c, b, d, x, p: the value; for D, F, W: the address of the array in the program */
	uint64_t number;
	union {
		double real;                /* for f, w: the value */
		const char *text;           /* for s: the string */
		const unsigned char *items; /* for D, F, W: the elements of the array */
	};
};

/* Converts text to an argument: takes the first type whose printed form is the same text, else a string that points to
 * `text`. */
struct swap_arg swap_arg_of(const char *text);
/* Appends the argument's value as text: numbers in C syntax, strings unchanged. */
void swap_arg_text(struct buf *out, const struct swap_arg *arg);

/* After the arguments, functrace appends strings that begin with one of these keys: the names of the arguments (always
 * written), the function's name, the mask of contexts, the resource's type, the id, the size, the stack. */
#define SWAP_NAMES    "an="
#define SWAP_FUNCTION "fn="
#define SWAP_CONTEXT  "cx="
#define SWAP_TYPE     "ty="
#define SWAP_ID       "id="
#define SWAP_SIZE     "sz="
#define SWAP_STACK    "bt="

/* Names of arguments whose values are stored in fields of the message, not among the arguments. */
#define SWAP_RETURN "return"
#define SWAP_ERRNO  "errno"

/* ---- API ids ---- */

enum {
	SWAP_API_MARK = 64,
	SWAP_API_MALLOC = 68,
	SWAP_API_FREE = 69,
	SWAP_API_REALLOC = 70,
	SWAP_API_CREATE = 90,
	SWAP_API_OTHER = 1000, /* a function that is not in the table of APIs (swap_value.c) */
};

struct swap_api {
	uint32_t id;
	const char *name;
	/* A letter for each argument: s is the size, 1 the number 1, i the id, n a null pointer, d the int 0. */
	const char *params;
	const char *names; /* names of the arguments, each followed by a comma */
	bool is_release;
};

/* Returns the API of a function. The function's name may be that of an API, also with the prefix of an allocator
 * (je_malloc), or that of an overload of operator new or delete. Returns the API with id SWAP_API_OTHER for any other
 * name. */
const struct swap_api *swap_api_of(const char *function);
/* Returns the API with that id, or NULL. */
const struct swap_api *swap_api_find(uint32_t id);
/* Returns the text of the map file: a line "ID NAME" for each API. Valid until the next call. */
const char *swap_api_map(void);

/* ---- Notes with messages of their own ---- */

/* Parses "unmapped 0x1-0x2 path". Returns false if the note says anything else. */
bool swap_note_unmaps(const char *text, uint64_t *low, uint64_t *high);

#endif
