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

/* The data with which a write cycle begins, so that a reader without the cycles before can read the rest. Kept only if
 * there is to be more than one cycle. */
struct stacktrack_cycle {
	uint64_t entries; /* of this cycle, after those that begin it */
	uint16_t number;  /* 0, 1, 2... */
	int64_t start_sec;
	uint32_t start_usec;
	struct stacktrack_posting {
		enum stacktrack_value value;
		char *text;
		size_t length;
	} * postings; /* of the process and its declarations, in the order of the trace */
	size_t count, capacity;
	struct hash places; /* value and id -> place in `postings` */
	struct mapped_objects objects;
	struct stacktrack_posting thread; /* the last one; has no text before the first */
};

struct stacktrack_writer {
	bool swap;
	uint16_t pid, tid;
	uint32_t sequence; /* of the current record; 0 for entries that begin a cycle */
	uint16_t last_file;
	struct hash functions; /* hash of a name -> its scope */
	char **names;          /* names of these, in the order of their scopes */
	size_t name_count, name_capacity;
	bool posted[STACKTRACK_VALUE_COUNT];
	struct hash threads; /* tid -> its number of 16 bits */
	struct hash taken;
	uint64_t now;              /* ticks of the newest call that has a time, or of the trace's start */
	struct buf text;           /* of the current record */
	struct stack_cache stacks; /* stacks with numbers: frames -> the cycle in which they were put */
	uint64_t cycles;           /* number of cycles before this one; cycle.number has only 16 bits */
	struct stacktrack_cycle cycle;
};

/* ---- stacktrack_entries.c ---- */

/* An entry as words, whose first byte is the lowest of the first word. The words stay in registers until the entry is
 * whole. */
struct stacktrack_out {
	uint64_t words[STACKTRACK_ENTRY / 8];
	bool swap;
};

/* Puts a number of 1 to 8 bytes, all in one of the words, whose bytes there must be 0. */
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

/* Returns an entry of the current record, without members. */
static inline struct stacktrack_out stacktrack_out_begin(const struct stacktrack_writer *s, unsigned flags)
{
	struct stacktrack_out entry = {.swap = s->swap};

	stacktrack_put_number(&entry, 0, flags, 2);
	stacktrack_put_number(&entry, 2, s->pid, 2);
	stacktrack_put_number(&entry, 4, s->sequence, 4);
	return entry;
}

/* Appends the entry, and its text in as many INFO entries as that needs. */
void stacktrack_put_entry(struct writer *writer, struct stacktrack_out *entry, const char *text, size_t length);
/* Puts a scope, with its number, style and name, to which hits refer. */
void stacktrack_post_scope(struct writer *writer, uint32_t scope, unsigned style, const char *name);
/* Puts a hit of a scope, with the current record's text. */
void stacktrack_put_hit(struct writer *writer, uint32_t scope, uint64_t when);
/* Puts a hit of the named value, and before that the value's scope, if this cycle does not have it yet. */
void stacktrack_put_value(struct writer *writer, enum stacktrack_value value);
/* Begins a record, with the next sequence number. Returns its text, which is empty. */
struct buf *stacktrack_begin_record(struct writer *writer);
/* Appends "key=value", after a blank if the text is not empty. Appends nothing if the value is NULL. */
void stacktrack_add_word(struct buf *text, const char *key, const char *value);
void stacktrack_add_number(struct buf *text, const char *key, uint64_t value);
/* Appends `before`, as it is, and the address. */
void stacktrack_add_address(struct buf *text, const char *before, uint64_t value);

/* ---- stacktrack_write_call.c ---- */

void stacktrack_put_call(struct writer *writer, const struct record_call *call);
/* Forgets the scopes of functions, which are put again before the next calls. */
void stacktrack_forget_functions(struct stacktrack_writer *s);

/* ---- stacktrack_cycle.c ---- */

/* Returns when the trace began, in ticks, as the times of hits. */
uint64_t stacktrack_start_ticks(const struct stacktrack_cycle *cycle);

/* Puts PROLOGUE, PROCINFO, TIMETYPE and TIMEINFO. */
void stacktrack_put_prologue(struct writer *writer);
void stacktrack_put_object(struct writer *writer, const struct record_object *object);
void stacktrack_put_build_id(struct writer *writer, const struct record_build_id *build_id);
/* Keep the text of the record that was just written for later cycles: as that of the value's `id`, or of the thread. */
void stacktrack_keep_value(struct writer *writer, enum stacktrack_value value, uint32_t id);
void stacktrack_keep_thread(struct writer *writer);
/* To be called before a record. Begins the next cycle if this one has all its entries. */
void stacktrack_next_cycle(struct writer *writer);
void stacktrack_cycle_free(struct stacktrack_cycle *cycle);

#endif
