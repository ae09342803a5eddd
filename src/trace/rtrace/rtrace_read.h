/* The state of the rtrace reader.  Private to trace/. */
#ifndef FT_TRACE_RTRACE_RTRACE_READ_H
#define FT_TRACE_RTRACE_RTRACE_READ_H

#include "base/buf.h"
#include "trace/reader_state.h"
#include "trace/rtrace/rtrace.h"

/* The most bytes of data that a packet of a known type may have, far more than any writer makes. Packets of unknown
 * types are skipped, whatever their size. */
#define RTRACE_READ_MAX (1u << 20)

struct rtrace_reader {
	bool begun;
	bool stopped; /* for good; rtrace_next() returns `status` */
	int status;
	bool compat; /* the compat dialect, with another order of fields */
	bool old;    /* sp-rtrace before 2.0: [size][type], the type counted in the size */
	bool swap, wide, big_endian;
	unsigned major, minor;
	struct day_clock clock;
	uint32_t depth; /* of the trace's stacks; 0 if unknown */
	uint32_t resource_count, first_resource;
	uint64_t declared; /* bit N: resource N */
	uint64_t next_index;
	uint32_t microseconds; /* of the next call's millisecond */
	struct buf text;       /* the strings of a record that is returned at once */
	struct buf call_text;  /* the strings of `call` */
	struct buf arg_text;
	bool has_call; /* `call` waits for its stack and arguments */
	bool has_args;
	struct record_call call;
	uint64_t *frames;
	size_t frame_capacity;
	struct call_arg *args;
	size_t arg_capacity;
	struct baseline_block *baseline;
	size_t baseline_capacity;
};

/* A packet in the buffer; while it is parsed, `p` is where its unread data begin. */
struct packet {
	uint32_t type; /* enum rtrace_type */
	uint32_t size; /* of the data */
	bool known;
	const unsigned char *p, *end;
};

/* Parse the data of one packet. Return 1, 2 if this makes no record yet, or a negative errno, which has been described,
 * if the data do not fit the type. Strings are in s->text; those of calls stay valid until the call is returned. */
int rtrace_take_process(struct reader *reader, struct packet *packet, struct record_process *process);
int rtrace_take_record(struct reader *reader, struct packet *packet, struct record *record);
int rtrace_take_call(struct reader *reader, struct packet *packet);
int rtrace_take_microseconds(struct reader *reader, struct packet *packet);
int rtrace_take_frames(struct reader *reader, struct packet *packet);
int rtrace_take_args(struct reader *reader, struct packet *packet);

#endif
