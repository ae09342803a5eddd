/* The state of the mpatrol reader. Private to trace/. */
#ifndef FT_TRACE_MPATROL_MPATROL_READ_H
#define FT_TRACE_MPATROL_MPATROL_READ_H

#include "base/buf.h"
#include "base/hash.h"
#include "trace/mpatrol/mpatrol.h"
#include "trace/reader_state.h"

/* Slots that a reference can name, and the longest name that is read. */
enum { MPATROL_SLOTS_READ = 128, MPATROL_NAME_READ = 65536 };

/* The most records that one record of the file becomes: a thread, a release, an allocation. */
enum { MPATROL_QUEUE = 3 };

struct mpatrol_live {
	uint64_t address, size;
};

struct mpatrol_reader {
	bool begun, stopped;
	int status;
	bool wide, big_endian, has_source;
	unsigned version;
	uint64_t seed;    /* mixed into all keys */
	struct hash live; /* index -> number in `blocks` */
	struct mpatrol_live *blocks;
	size_t block_count, block_capacity;
	size_t *unused; /* numbers in `blocks` that are free again */
	size_t unused_count, unused_capacity;
	uint64_t last_index, next_call;
	char *functions[MPATROL_SLOTS_READ], *files[MPATROL_SLOTS_READ];
	/* Threads are numbers of 64 bits. One that does not fit in 32 bits gets a number that does, a handle, and its
	 * own number as a name. */
	struct hash handles; /* thread -> handle */
	struct hash taken;   /* handles in use */
	uint32_t last_handle;
	uint64_t thread; /* the thread of the calls that are read */
	char thread_name[24], index_text[24], origin[32];
	struct call_arg index_arg;
	struct buf site_text;
	const char *texts[1];
	struct record queue[MPATROL_QUEUE];
	size_t queued, given;
	size_t at; /* bytes of the record that have been taken */
};

struct mpatrol_source {
	uint64_t thread, line;
	const char *function, *file;
};

/* Returns the next byte of the record at reader->start, of which s->at bytes have been taken; -1 if the input ends. */
int mpatrol_take_byte(struct reader *reader);
/* Describes that the record is not whole. Returns 0 or a negative errno, as reader_cut_off(). */
int mpatrol_cut_off(struct reader *reader);
/* Take a number, or the place where a call was made. Return 1; or 0 or a negative errno, which has been described, if
 * the record is not whole or damaged. The reader owns the names, until their slot gets another one. */
int mpatrol_take_number(struct reader *reader, uint64_t *value);
int mpatrol_take_source(struct reader *reader, struct mpatrol_source *source);

#endif
