/* The mpatrol tracing format: what its writer, its reader and the outputs beside it share.
 *
 * The format is the document "tracing file format" of mpatrol; functrace-formats(5) describes it. */
#ifndef FT_TRACE_MPATROL_MPATROL_H
#define FT_TRACE_MPATROL_MPATROL_H

#include "trace/call_site.h"
#include "trace/unsupported.h"

#define MPATROL_MAGIC   "MTRC"
#define MPATROL_VERSION 10501 /* 1.5.1, which is written */
#define MPATROL_SOURCE  10405 /* from here on records have their thread, function, file and line */
#define MPATROL_TOO_NEW 10600
#define MPATROL_SLOTS   32   /* of each cache of names, as the library has it */
#define MPATROL_NAME    1023 /* its programs have room for no longer name */

/* An argument of an allocation: the block's index, where that is not the number after the one before. */
#define MPATROL_INDEX_ARG "#index"

enum mpatrol_type {
	MPATROL_ALLOC = 'A',
	MPATROL_REALLOC = 'R',
	MPATROL_FREE = 'F',
	MPATROL_HEAP = 'H',
	MPATROL_INTERNAL = 'I',
};

/* What an mpatrol trace has a record for. */
struct mpatrol_event {
	enum mpatrol_type type;
	uint64_t index;       /* of the block: one number through all its reallocations, never used again */
	uint64_t address;     /* R: the new one; F: that of the block */
	uint64_t size;        /* not F */
	uint64_t old_address; /* R */
	uint32_t thread;
	struct call_site site; /* valid until the next record is put */
};

struct mpatrol_events;

struct mpatrol_events_options {
	frame_namer namer; /* NULL: callers are named as their text is, or as module+0xOFFSET */
	void *namer_context;
	void (*emit)(void *context, const struct mpatrol_event *event);
	void *context;
	struct omissions *omissions; /* counts what has no event; the caller's */
};

/* Turns records into events: keeps which block has which address, and makes one event of a release and an allocation
 * that one call of realloc made. Memory is proportional to the live blocks. */
struct mpatrol_events *mpatrol_events_new(const struct mpatrol_events_options *options);
/* Takes a record, and emits its events. Returns how many calls of the trace those stand for. */
unsigned mpatrol_events_put(struct mpatrol_events *events, const struct record *record);
/* Emits what was held back; returns as mpatrol_events_put(). */
unsigned mpatrol_events_finish(struct mpatrol_events *events);
void mpatrol_events_free(struct mpatrol_events *events);

#endif
