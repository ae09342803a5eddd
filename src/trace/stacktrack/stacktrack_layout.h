/* The layout of the entries of a StackTrack trace: as functrace writes them, or as a description says that another
 * program does. */
#ifndef FT_TRACE_STACKTRACK_STACKTRACK_LAYOUT_H
#define FT_TRACE_STACKTRACK_STACKTRACK_LAYOUT_H

#include "trace/stacktrack/stacktrack.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>

/* How a member is shown. */
enum stacktrack_kind {
	STACKTRACK_TIME,    /* ticks, shown in seconds since the start */
	STACKTRACK_DIVISOR, /* ticks in a second, shown in seconds, too, as in the document */
	STACKTRACK_SIGNED,
	STACKTRACK_UNSIGNED,
	STACKTRACK_HEX,
};

struct stacktrack_member {
	const char *name, *type, *desc;
	enum stacktrack_kind kind;
	unsigned size, offset; /* in the payload; the size is 1, 2, 4 or 8 */
};

enum { STACKTRACK_MEMBERS = 5 };

/* The members that readers use, by their indexes in a type. */
enum {
	STACKTRACK_HIT_WHEN = 0,
	STACKTRACK_HIT_SCOPE = 1,
	STACKTRACK_FILE_NUMBER = 0, /* of FLOC and FPROPERTY */
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
	const char *uname, *name, *followedby, *desc; /* of a type of entries */
	unsigned size;
	unsigned member_count;
	struct stacktrack_member members[STACKTRACK_MEMBERS];
};

/* The types by enum stacktrack_type, as functrace writes them; after them INFO. */
extern const struct stacktrack_layout stacktrack_layouts[STACKTRACK_TYPES + 1];

enum { STACKTRACK_ENTRY_MAX = 4096 };

/* The layout of all entries. The flags are the first two bytes. The process and the sequence number (4 bytes) follow
 * them, each at a multiple of its size, as in C, because no description says where they are. */
struct stacktrack_format {
	bool is_described; /* from a description, which the trace's prologue must not contradict */
	unsigned version;
	size_t entry_size, payload_at, payload_size;
	size_t info_size; /* bytes of text in an entry, at most payload_size */
	size_t process_at, process_size, sequence_at;
	unsigned type_mask, is_info, has_info, info_end; /* bits of the flags */
	unsigned indexes[STACKTRACK_TYPES];              /* of the types, in type_mask */
	unsigned char types[256];                        /* by index; STACKTRACK_TYPES if unknown */
	struct stacktrack_layout layouts[STACKTRACK_TYPES];
};

/* Sets the format that functrace writes. */
void stacktrack_format_init(struct stacktrack_format *format);
/* Sets the format of a description, as --show-format prints one; `text` need not end with a NUL. Returns 0, or -EBADMSG
 * with a clause in error[size] that says what is wrong, and in which line. */
int stacktrack_format_read(const char *text, size_t length, struct stacktrack_format *format, char *error, size_t size);
/* Computes where the process and the sequence number are before the payload, and the table of types by index. */
void stacktrack_format_settle(struct stacktrack_format *format);
/* Returns the bytes of a prologue up to the end of its last member. */
size_t stacktrack_prologue_size(const struct stacktrack_format *format);
/* Returns whether `data`, of stacktrack_prologue_size() bytes, is a prologue, in either byte order. *swap: it is
 * big-endian. */
bool stacktrack_is_prologue(const struct stacktrack_format *format, const unsigned char *data, bool *swap);
/* Takes the size of entries from a prologue. Returns false if the prologue is of an unknown kind or contradicts the
 * description, with a clause in error[size], and in *at the byte of the prologue that is wrong. */
bool stacktrack_format_begin(struct stacktrack_format *format, const unsigned char *data, bool swap, size_t *at,
			     char *error, size_t size);

/* Returns a number of 1, 2, 4 or 8 bytes of a little-endian trace, or with `swap` of a big-endian one. */
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

/* Returns a member's value; a signed one is extended to 64 bits. */
static inline uint64_t stacktrack_member(const struct stacktrack_format *format, const struct stacktrack_member *member,
					 const unsigned char *entry, bool swap)
{
	const uint64_t value = stacktrack_number(entry + format->payload_at + member->offset, member->size, swap);
	const unsigned unused = 64 - 8 * member->size;

	return member->kind == STACKTRACK_SIGNED ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

/* Returns the type that the flags contain; STACKTRACK_TYPES if it is unknown, STACKTRACK_IS_INFO for a text. */
static inline unsigned stacktrack_type(const struct stacktrack_format *format, unsigned flags)
{
	const unsigned index = flags & format->type_mask;

	return index == format->is_info ? STACKTRACK_IS_INFO : format->types[index];
}

#endif
