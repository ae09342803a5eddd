/* The state of the mpatrol reader. Private to trace/. */
#ifndef FT_TRACE_MPATROL_MPATROL_READ_H
#define FT_TRACE_MPATROL_MPATROL_READ_H

#include "base/buf.h"
#include "base/hash.h"
#include "trace/mpatrol/mpatrol.h"
#include "trace/reader_state.h"

/* MPATROL_SLOTS_READ: number of slots for names; a record has 7 bits for the number of a slot. MPATROL_NAME_READ:
 * maximum length of a name that is read, in bytes. */
enum { MPATROL_SLOTS_READ = 128, MPATROL_NAME_READ = 65536 };

/* Largest number of records that are made from one record of the file: a thread, a release, an allocation. */
enum { MPATROL_QUEUE = 3 };

struct mpatrol_live {
	uint64_t address, size;
};

struct mpatrol_reader {
	bool begun, stopped;
	int status;
	bool wide, big_endian, has_source;
	unsigned version;
	uint64_t seed;    /* random number that is XORed into all keys of hashes */
	struct hash live; /* index of a live block in the file -> index of its entry in `blocks` */
	struct mpatrol_live *blocks;
	size_t block_count, block_capacity;
	size_t *unused; /* indexes of unused entries of `blocks` */
	size_t unused_count, unused_capacity;
	uint64_t last_index, next_call;
	char *functions[MPATROL_SLOTS_READ], *files[MPATROL_SLOTS_READ];
	/* Thread numbers in the file have 64 bits. In records, a thread has a handle of 32 bits: the lower half of its
	 * number or, if that is 0 or in use, another one. A number of more than 32 bits becomes the thread's name. */
	struct hash handles; /* number of a thread -> its handle */
	struct hash taken;   /* handles in use */
	uint32_t last_handle;
	uint64_t thread; /* number of the thread in the last thread record; 0 before the first one */
	char thread_name[24], index_text[24], origin[32];
	struct call_arg index_arg;
	struct buf site_text;
	const char *texts[1];
	struct record queue[MPATROL_QUEUE];
	size_t queued, given;
	size_t at; /* number of bytes of the current record that have been parsed */
};

struct mpatrol_source {
	uint64_t thread, line;
	const char *function, *file;
};

/* Returns the next byte of the record at reader->start, of which s->at bytes have been parsed already; -1 at the end of
 * the input. */
int mpatrol_take_byte(struct reader *reader);
/* Reports with reader_cut_off() that the input ends within the record. Return value as reader_cut_off(). */
int mpatrol_cut_off(struct reader *reader);
/* Parse a number, and the thread and source position of a call. Return 1. If the record is incomplete, return the value
 * of reader_cut_off(). If it is damaged, return a negative errno, which has been described in reader->message. The
 * reader owns the names; each is valid until another name is stored in its slot. */
int mpatrol_take_number(struct reader *reader, uint64_t *value);
int mpatrol_take_source(struct reader *reader, struct mpatrol_source *source);

#endif
