/* What the parts of the StackTrack writer share.  Private to trace/. */
#ifndef FT_TRACE_STACKTRACK_STACKTRACK_WRITE_H
#define FT_TRACE_STACKTRACK_STACKTRACK_WRITE_H

#include "base/hash.h"
#include "trace/mapped_objects.h"
#include "trace/stack_cache.h"
#include "trace/stacktrack/stacktrack.h"
#include "trace/writer_state.h"

#include <endian.h>
#include <string.h>

/* What a new write cycle begins with, so that who has lost all before it can read the rest. Kept only where there is
 * to be more than one cycle. */
struct stacktrack_cycle {
	uint64_t entries; /* of this cycle, behind those that begin it */
	uint16_t number;  /* 0, 1, 2... */
	int64_t start_sec;
	uint32_t start_usec;
	struct stacktrack_posting {
		enum stacktrack_value value;
		char *text;
		size_t length;
	} * postings; /* of the process and its declarations, in the order in which they came */
	size_t count, capacity;
	struct hash places; /* value and id -> place in `postings` */
	struct mapped_objects objects;
	struct stacktrack_posting thread; /* the last one; without a text: none yet */
};

struct stacktrack_writer {
	bool swap;
	uint16_t pid, tid;
	uint32_t sequence; /* of the record that is written; 0: of what begins a cycle */
	uint16_t last_file;
	struct hash functions; /* hash of a name -> its scope */
	char **names;          /* of these, by their order */
	size_t name_count, name_capacity;
	bool posted[STACKTRACK_VALUE_COUNT];
	struct hash threads; /* tid -> what stands for it in 16 bits */
	struct hash taken;
	uint64_t now;              /* ticks of the newest call that has a time, or of the trace's start */
	struct buf text;           /* of the record that is written */
	struct stack_cache stacks; /* that have numbers: frames -> the cycle in which they were posted */
	uint64_t cycles;           /* begun before this one; its number in the trace has 16 bits */
	struct stacktrack_cycle cycle;
};

/* ---- stacktrack_entries.c ---- */

/* In words, the first byte the lowest of the first: they are in registers until the entry is whole. */
struct stacktrack_out {
	uint64_t words[STACKTRACK_ENTRY / 8];
	bool swap;
};

/* size: 1 to 8, all in one of the words, which has nothing there yet. */
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

/* An entry of the record that is written, with no members yet. */
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
void stacktrack_post_scope(struct writer *writer, uint32_t scope, unsigned style, const char *name);
/* A hit whose text is the writer's. */
void stacktrack_put_hit(struct writer *writer, uint32_t scope, uint64_t when);
/* A hit of the named value, which is posted before if it was not yet. */
void stacktrack_put_value(struct writer *writer, enum stacktrack_value value);
/* Each record has a sequence number of its own. Returns its text, which is empty. */
struct buf *stacktrack_begin_record(struct writer *writer);
/* "key=value", behind a blank if there is something before it. Of a value of NULL nothing. */
void stacktrack_add_word(struct buf *text, const char *key, const char *value);
void stacktrack_add_number(struct buf *text, const char *key, uint64_t value);
/* before: what stands before it as it is. */
void stacktrack_add_address(struct buf *text, const char *before, uint64_t value);

/* ---- stacktrack_write_call.c ---- */

void stacktrack_put_call(struct writer *writer, const struct record_call *call);
/* Functions are posted again before their next calls. */
void stacktrack_forget_functions(struct stacktrack_writer *s);

/* ---- stacktrack_cycle.c ---- */

/* When the trace began, as times of its hits are counted. */
uint64_t stacktrack_start_ticks(const struct stacktrack_cycle *cycle);

/* PROLOGUE, PROCINFO, TIMETYPE, TIMEINFO. */
void stacktrack_put_prologue(struct writer *writer);
void stacktrack_put_object(struct writer *writer, const struct record_object *object);
void stacktrack_put_build_id(struct writer *writer, const struct record_build_id *build_id);
/* For the cycles to come, the text of the record that was just written: as that of the value's `id`, and as the
 * thread's. */
void stacktrack_keep_value(struct writer *writer, enum stacktrack_value value, uint32_t id);
void stacktrack_keep_thread(struct writer *writer);
/* Before a record: begins the next cycle if this one has all its entries. */
void stacktrack_next_cycle(struct writer *writer);
void stacktrack_cycle_free(struct stacktrack_cycle *cycle);

#endif
