/* The state of the StackTrack writer, and how it builds entries. Private to trace/. */
#ifndef FT_TRACE_STACKTRACK_STACKTRACK_WRITE_H
#define FT_TRACE_STACKTRACK_STACKTRACK_WRITE_H

#include "base/hash.h"
#include "trace/mapped_objects.h"
#include "trace/stack_cache.h"
#include "trace/stacktrack/stacktrack.h"
#include "trace/writer_state.h"

#include <endian.h>
#include <string.h>

/* The data that are written at the beginning of each write cycle, so that a trace can be read from any cycle on. They
 * are stored only if the trace has cycles (writer_options.cycle_size). */
struct stacktrack_cycle {
	uint64_t entries; /* number of entries in this cycle, without the repeated data */
	uint16_t number;  /* number of the cycle, from 0 on */
	int64_t start_sec;
	uint32_t start_usec;
	struct stacktrack_posting {
		enum stacktrack_value value;
		char *text;
		size_t length;
	} * postings; /* texts of the process and its declarations, in the order of the trace */
	size_t count, capacity;
	struct hash places; /* enum stacktrack_value and id of a posting -> its index in `postings` */
	struct mapped_objects objects;
	struct stacktrack_posting thread; /* the last thread record; its text is NULL before the first one */
};

struct stacktrack_writer {
	bool swap;
	uint16_t pid, tid;
	/* sequence number of the current record; 0 for entries that are repeated in a new cycle */
	uint32_t sequence;
	uint16_t last_file;
	struct hash functions; /* hash of a function's name -> number of its scope */
	char **names;          /* names of these functions, in the order of their scopes */
	size_t name_count, name_capacity;
	bool posted[STACKTRACK_VALUE_COUNT];
	struct hash threads; /* tid -> 16-bit number for it in the trace */
	struct hash taken;
	uint64_t now;    /* time in ticks of the last call with a time; if there is none yet, of the start */
	struct buf text; /* text of the current record */
	/* stacks with numbers: frames -> cycle in which the stack was written last */
	struct stack_cache stacks;
	uint64_t cycles; /* number of cycles before this one; cycle.number has only 16 bits */
	struct stacktrack_cycle cycle;
};

/* ---- stacktrack_entries.c ---- */

/* An entry, stored as 64-bit words, so that the compiler can keep it in registers until it is complete. The entry's
 * first byte is the lowest byte of the first word. */
struct stacktrack_out {
	uint64_t words[STACKTRACK_ENTRY / 8];
	bool swap;
};

/* Stores a number of 1 to 8 bytes at offset `at`. The number must lie in one word, and the bytes at its place must
 * still be 0. */
static inline void stacktrack_put_number(struct stacktrack_out *entry, size_t at, uint64_t value, size_t size)
{
	const uint64_t upper = value << (64 - 8 * size);

	entry->words[at / 8] |= (entry->swap ? __builtin_bswap64(upper) : upper >> (64 - 8 * size)) << (8 * (at % 8));
}

static inline void stacktrack_store(const struct stacktrack_out *entry, unsigned char *to)
{
	for (size_t i = 0; i < STACKTRACK_ENTRY / 8; i++) {
		const uint64_t word = htole64(entry->words[i]);

		memcpy(to + 8 * i, &word, 8);
	}
}

static inline void stacktrack_put_member(struct stacktrack_out *entry, size_t at, uint64_t value, size_t size)
{
	stacktrack_put_number(entry, STACKTRACK_PAYLOAD + at, value, size);
}

/* Returns an entry for the current record, with its head and an empty payload. */
static inline struct stacktrack_out stacktrack_out_begin(const struct stacktrack_writer *s, unsigned flags)
{
	struct stacktrack_out entry = {.swap = s->swap};

	stacktrack_put_number(&entry, 0, flags, 2);
	stacktrack_put_number(&entry, 2, s->pid, 2);
	stacktrack_put_number(&entry, 4, s->sequence, 4);
	return entry;
}

/* Appends the entry, and its text in INFO entries after it. */
void stacktrack_put_entry(struct writer *writer, struct stacktrack_out *entry, const char *text, size_t length);
/* Appends the definition of a scope: its number, style and name. Hits refer to its number. */
void stacktrack_post_scope(struct writer *writer, uint32_t scope, unsigned style, const char *name);
/* Appends a HIT entry for a scope, with the current record's text. */
void stacktrack_put_hit(struct writer *writer, uint32_t scope, uint64_t when);
/* Appends a HIT entry for the scope of a named value. If the current cycle does not define this scope yet, appends its
 * definition first. */
void stacktrack_put_value(struct writer *writer, enum stacktrack_value value);
/* Begins a record with the next sequence number. Returns the buffer for its text, which is empty. */
struct buf *stacktrack_begin_record(struct writer *writer);
/* Appends "key=value", after a blank if the text is not empty. Appends nothing if the value is NULL. */
void stacktrack_add_word(struct buf *text, const char *key, const char *value);
void stacktrack_add_number(struct buf *text, const char *key, uint64_t value);
/* Appends `before`, without escapes, and the address. */
void stacktrack_add_address(struct buf *text, const char *before, uint64_t value);

/* ---- stacktrack_write_call.c ---- */

void stacktrack_put_call(struct writer *writer, const struct record_call *call);
/* Forgets which scopes of functions were written, so that they are written again before the next calls. */
void stacktrack_forget_functions(struct stacktrack_writer *s);

/* ---- stacktrack_cycle.c ---- */

/* Returns the time at which the trace began, in ticks, on the same clock as the times of hits. */
uint64_t stacktrack_start_ticks(const struct stacktrack_cycle *cycle);

/* Appends PROLOGUE, PROCINFO, TIMETYPE and TIMEINFO. */
void stacktrack_put_prologue(struct writer *writer);
void stacktrack_put_object(struct writer *writer, const struct record_object *object);
void stacktrack_put_build_id(struct writer *writer, const struct record_build_id *build_id);
/* Store a copy of the current record's text, to be written again in later cycles: stacktrack_keep_value() as the text
 * of `value` with that id, stacktrack_keep_thread() as the text of the current thread. The copy replaces the older copy
 * of the same value and id, or of the thread. */
void stacktrack_keep_value(struct writer *writer, enum stacktrack_value value, uint32_t id);
void stacktrack_keep_thread(struct writer *writer);
/* Must be called before each record. Begins the next cycle if the current one has cycle_size entries. */
void stacktrack_next_cycle(struct writer *writer);
void stacktrack_cycle_free(struct stacktrack_cycle *cycle);

#endif
