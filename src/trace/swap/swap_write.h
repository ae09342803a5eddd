/* The state of the SWAP writer, and how it builds messages. Private to trace/. */
#ifndef FT_TRACE_SWAP_SWAP_WRITE_H
#define FT_TRACE_SWAP_SWAP_WRITE_H

#include "base/hash.h"
#include "trace/mapped_objects.h"
#include "trace/stack_cache.h"
#include "trace/swap/swap.h"
#include "trace/writer_state.h"

#include <endian.h>
#include <string.h>

/* A kind of resource that was declared. */
struct swap_resource {
	uint32_t id, flags;
	char *type;
};

struct swap_writer {
	bool announced; /* MSG_PROCESS_INFO was written; it is delayed until the objects are declared */
	bool has_ended; /* a note about the end of the process was written */
	uint32_t sequence;
	uint32_t pid, tid, ppid;
	char *name, *command;
	bool is_attached;
	struct open_file *files; /* owns the paths */
	uint32_t file_count;
	uint64_t start_ns;     /* beginning of the trace, in ns since the Epoch; 0 if unknown */
	uint64_t own_start_ns; /* process's start in ns since the Epoch; start_ns if unknown or if there are no times */
	uint64_t day_ns;       /* midnight before start_ns, in ns since the Epoch */
	/* time of the last call, or of the start if there is no call yet; 0 if the trace has no times */
	uint64_t now_ns;
	struct mapped_objects objects;
	uint64_t program_from, program_to;
	struct swap_resource *resources;
	size_t resource_count, resource_capacity;
	struct hash threads; /* tid -> hash of the thread's name that was written last */
	struct stack_cache stacks;
};

static inline void swap_put_byte(struct buf *out, unsigned value)
{
	buf_add_char(out, (char)value);
}

static inline void swap_put_dword(struct buf *out, uint32_t value)
{
	const uint32_t bytes = htole32(value);

	memcpy(buf_room(out, sizeof(bytes)), &bytes, sizeof(bytes));
	out->size += sizeof(bytes);
}

/* Stores a dword at an offset of the buffer, over a dword that was put there before. */
static inline void swap_set_dword(struct buf *out, size_t at, uint32_t value)
{
	const uint32_t bytes = htole32(value);

	memcpy(out->data + at, &bytes, sizeof(bytes));
}

static inline void swap_put_long(struct buf *out, uint64_t value)
{
	const uint64_t bytes = htole64(value);

	memcpy(buf_room(out, sizeof(bytes)), &bytes, sizeof(bytes));
	out->size += sizeof(bytes);
}

/* Appends a string. max: its maximum size in bytes, with the NUL. A longer string is cut, "..." replaces its end, and
 * the cut is counted. text may be NULL. */
void swap_put_string(struct writer *writer, const char *text, size_t max);

/* Begins a message. ns: its time, in ns since the Epoch, or 0. Returns the offset of the message's head in writer->out,
 * to be passed to swap_end(), which stores the message's length in the head. */
size_t swap_begin(struct writer *writer, enum swap_id id, uint64_t ns);
void swap_end(struct writer *writer, size_t head);

/* Returns the resource with that id (0: the only one); NULL if it is not declared. */
const struct swap_resource *swap_resource_of(const struct swap_writer *s, uint32_t id);

/* Appends the messages of a call. */
void swap_put_call(struct writer *writer, const struct record_call *call);

/* Appends the fields that are common to all probes. The only argument is an empty SWAP_NAMES, which marks the message
 * as written by functrace. */
void swap_put_probe(struct writer *writer, uint32_t api);

#endif
