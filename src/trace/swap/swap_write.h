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

/* A kind of resource, as it was declared. */
struct swap_resource {
	uint32_t id, flags;
	char *type;
};

struct swap_writer {
	bool announced; /* MSG_PROCESS_INFO, which waits for the objects, was put */
	bool has_ended; /* the process has ended */
	uint32_t sequence;
	uint32_t pid, tid, ppid;
	char *name, *command;
	bool is_attached;
	struct open_file *files; /* owns the paths */
	uint32_t file_count;
	uint64_t start_ns;     /* when the trace began, since the Epoch; 0 if unknown */
	uint64_t own_start_ns; /* when the process began, if that was earlier */
	uint64_t day_ns;       /* midnight before start_ns */
	uint64_t now_ns;       /* of the last call; 0 if none */
	struct mapped_objects objects;
	uint64_t program_from, program_to;
	struct swap_resource *resources;
	size_t resource_count, resource_capacity;
	struct hash threads; /* tid -> a hash of the name that was written */
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

static inline void swap_put_long(struct buf *out, uint64_t value)
{
	const uint64_t bytes = htole64(value);

	memcpy(buf_room(out, sizeof(bytes)), &bytes, sizeof(bytes));
	out->size += sizeof(bytes);
}

/* Puts a string of at most `max` bytes with its NUL. A longer one is cut, ends in "..." and is counted. text may be
 * NULL. */
void swap_put_string(struct writer *writer, const char *text, size_t max);

/* Begins a message at that time (ns since the Epoch; 0 for none). Returns where its head is, into which swap_end()
 * writes the length. */
size_t swap_begin(struct writer *writer, enum swap_id id, uint64_t ns);
void swap_end(struct writer *writer, size_t head);

/* Returns the resource of a call; NULL if none with that id is declared. */
const struct swap_resource *swap_resource_of(const struct swap_writer *s, uint32_t id);

/* Puts a call's messages. */
void swap_put_call(struct writer *writer, const struct record_call *call);

/* Puts the fields that are common to all probes, with the mark that functrace has written them as the only argument. */
void swap_put_probe(struct writer *writer, uint32_t api);

#endif
