/* The layout of the entries of a StackTrack trace: functrace's own, or the layout of another program, read from a
 * description. */
#ifndef FT_TRACE_STACKTRACK_STACKTRACK_LAYOUT_H
#define FT_TRACE_STACKTRACK_STACKTRACK_LAYOUT_H

#include "trace/stacktrack/stacktrack.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>

/* The form in which a member is printed. */
enum stacktrack_kind {
	STACKTRACK_TIME,    /* a time in ticks, printed as seconds since the start */
	STACKTRACK_DIVISOR, /* ticks per second, printed like a time, as in the format's document */
	STACKTRACK_SIGNED,
	STACKTRACK_UNSIGNED,
	STACKTRACK_HEX,
};

struct stacktrack_member {
	const char *name, *type, *desc;
	enum stacktrack_kind kind;
	unsigned size, offset; /* size in bytes (1, 2, 4 or 8), and offset in the payload */
};

enum { STACKTRACK_MEMBERS = 5 };

/* Indexes of the members that readers use, within their type. */
enum {
	STACKTRACK_HIT_WHEN = 0,
	STACKTRACK_HIT_SCOPE = 1,
	STACKTRACK_FILE_NUMBER = 0, /* in FLOC and FPROPERTY */
	STACKTRACK_SLOC_SCOPE = 0,
	STACKTRACK_SLOC_STYLE = 1,
	STACKTRACK_PROLOGUE_MAGIC = 0,
	STACKTRACK_PROLOGUE_VERSION,
	STACKTRACK_PROLOGUE_INFO,
	STACKTRACK_PROLOGUE_ENTRY,
	STACKTRACK_PROLOGUE_PAYLOAD,
	STACKTRACK_PROCINFO_PID = 0,
	STACKTRACK_TIMEINFO_TICKS = 0,
	STACKTRACK_TIMEINFO_START = 1,
	STACKTRACK_TIMETYPE_DIVISOR = 0,
};

struct stacktrack_layout {
	const char *uname, *name, *followedby, *desc; /* names, text that follows an entry ("~": none), description */
	unsigned size;
	unsigned member_count;
	struct stacktrack_member members[STACKTRACK_MEMBERS];
};

/* Layouts of the types that functrace writes, indexed by enum stacktrack_type; the last one is INFO. */
extern const struct stacktrack_layout stacktrack_layouts[STACKTRACK_TYPES + 1];

enum { STACKTRACK_ENTRY_MAX = 4096 };

/* The layout of all entries. The first two bytes are the flags. The pid and the sequence number (4 bytes) follow, each
 * at a multiple of its size as in a C struct, because descriptions do not contain their offsets. */
struct stacktrack_format {
	bool is_described; /* read from a description; then the trace's prologue must not contradict it */
	unsigned version;
	size_t entry_size, payload_at, payload_size;
	size_t info_size; /* bytes of text in an INFO entry */
	size_t process_at, process_size, sequence_at;
	unsigned type_mask, is_info, has_info, info_end; /* masks of bits in the flags */
	unsigned indexes[STACKTRACK_TYPES];              /* each type's value of the bits in type_mask */
	unsigned char types[256]; /* type for each value of these bits; STACKTRACK_TYPES if there is none */
	struct stacktrack_layout layouts[STACKTRACK_TYPES];
};

/* Initialises *format with the layout that functrace writes. */
void stacktrack_format_init(struct stacktrack_format *format);
/* Parses a description in the syntax of --show-format. `text` has `length` bytes and need not end with a NUL. Returns
 * 0, or -EBADMSG with a clause in error[size] that names the line and the error. */
int stacktrack_format_read(const char *text, size_t length, struct stacktrack_format *format, char *error, size_t size);
/* Computes process_at, process_size, sequence_at and types[] from the other members. */
void stacktrack_format_settle(struct stacktrack_format *format);
/* Returns the number of bytes from the beginning of a prologue to the end of its last member. */
size_t stacktrack_prologue_size(const struct stacktrack_format *format);
/* Returns true if `data`, of stacktrack_prologue_size() bytes, is a prologue, in either byte order. Sets *swap to true
 * if it is big-endian. */
bool stacktrack_is_prologue(const struct stacktrack_format *format, const unsigned char *data, bool *swap);
/* Sets entry_size and info_size from a prologue. Returns false if functrace cannot read this version or layout, or if
 * the prologue contradicts the description. Then error[size] is a clause about the error, and *at is the offset of the
 * wrong byte in the prologue. */
bool stacktrack_format_begin(struct stacktrack_format *format, const unsigned char *data, bool swap, size_t *at,
			     char *error, size_t size);

/* Returns the number that is stored at `p` in 1, 2, 4 or 8 bytes. swap: the trace is big-endian, else little-endian. */
static inline uint64_t stacktrack_number(const unsigned char *p, size_t size, bool swap)
{
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	switch (size) {
	case 1:
		return *p;
	case 2:
		memcpy(&two, p, 2);
		return swap ? be16toh(two) : le16toh(two);
	case 4:
		memcpy(&four, p, 4);
		return swap ? be32toh(four) : le32toh(four);
	default:
		memcpy(&eight, p, 8);
		return swap ? be64toh(eight) : le64toh(eight);
	}
}

/* Returns the value of a member of an entry. A signed value is sign-extended to 64 bits. */
static inline uint64_t stacktrack_member(const struct stacktrack_format *format, const struct stacktrack_member *member,
					 const unsigned char *entry, bool swap)
{
	const uint64_t value = stacktrack_number(entry + format->payload_at + member->offset, member->size, swap);
	const unsigned unused = 64 - 8 * member->size;

	return member->kind == STACKTRACK_SIGNED ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

/* Returns the type of an entry with these flags: STACKTRACK_IS_INFO for a text, STACKTRACK_TYPES if the type is
 * unknown. */
static inline unsigned stacktrack_type(const struct stacktrack_format *format, unsigned flags)
{
	const unsigned index = flags & format->type_mask;

	return index == format->is_info ? STACKTRACK_IS_INFO : format->types[index];
}

#endif
