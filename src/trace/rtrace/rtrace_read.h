/* The state of the rtrace reader.  Private to trace/. */
#ifndef FT_TRACE_RTRACE_RTRACE_READ_H
#define FT_TRACE_RTRACE_RTRACE_READ_H

#include "base/buf.h"
#include "trace/reader_state.h"
#include "trace/rtrace/rtrace.h"

#include <string.h>

/* Maximum size of the data of a packet with a known type, in bytes; no writer reaches it. Packets of unknown types are
 * skipped, whatever their size. */
#define RTRACE_READ_MAX (1u << 20)

struct rtrace_reader {
	bool begun;
	bool stopped; /* reading has ended; rtrace_next() returns only `status` from now on */
	int status;
	bool compat; /* the trace is in the compat dialect, which has another order of fields */
	/* written by sp-rtrace before 2.0: a packet begins with [size][type], and its size includes the type */
	bool old;
	bool swap, wide, big_endian;
	unsigned major, minor;
	struct day_clock clock;
	uint32_t depth; /* frames per stack of the trace; 0 if unknown */
	uint32_t resource_count, first_resource;
	uint64_t declared; /* bit N is set if resource N is declared */
	uint64_t next_index;
	uint32_t microseconds; /* microseconds within the millisecond of the next call */
	struct buf text;       /* the strings of a record other than a call */
	struct buf call_text;  /* the strings of `call` */
	struct buf arg_text;
	bool has_call; /* `call` is not returned yet, because its stack and arguments may follow */
	bool has_args;
	struct record_call call;
	uint64_t *frames;
	size_t frame_capacity;
	struct call_arg *args;
	size_t arg_capacity;
	struct baseline_block *baseline;
	size_t baseline_capacity;
};

/* A packet in the buffer. While it is parsed, `p` points to the rest of its data. */
struct packet {
	uint32_t type; /* enum rtrace_type */
	uint32_t size; /* size of the data, in bytes */
	bool known;
	const unsigned char *p, *end;
};

/* Returns the dword at `p`, in the byte order of the host. */
static inline uint32_t get_dword(const struct rtrace_reader *s, const unsigned char *p)
{
	uint32_t value;

	memcpy(&value, p, 4);
	return s->swap ? __builtin_bswap32(value) : value;
}

/* Parse the data of one packet. Return 1 if the packet contains a complete record; 2 if it contains none, or if later
 * packets may add to its record. If the data do not fit the type, return a negative errno, which has been described in
 * reader->message. The record's strings are in s->text, valid until the next packet; strings of a call stay valid until
 * the call is returned. */
int rtrace_take_process(struct reader *reader, struct packet *packet, struct record_process *process);
int rtrace_take_record(struct reader *reader, struct packet *packet, struct record *record);
int rtrace_take_call(struct reader *reader, struct packet *packet);
int rtrace_take_microseconds(struct reader *reader, struct packet *packet);
int rtrace_take_frames(struct reader *reader, struct packet *packet);
int rtrace_take_args(struct reader *reader, struct packet *packet);

#endif
