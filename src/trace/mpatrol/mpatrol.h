/* The parts of the mpatrol tracing format that its writer and its reader share.
 *
 * The document "tracing file format" of mpatrol defines the format; functrace-formats(5) describes it. */
#ifndef FT_TRACE_MPATROL_MPATROL_H
#define FT_TRACE_MPATROL_MPATROL_H

#include "trace/call_site.h"
#include "trace/unsupported.h"

#define MPATROL_MAGIC   "MTRC"
#define MPATROL_VERSION 10501 /* 1.5.1, which functrace writes */
#define MPATROL_SOURCE  10405 /* from this version on records have their thread, function, file and line */
#define MPATROL_TOO_NEW 10600
#define MPATROL_SLOTS   32   /* of each cache of names, as in the mpatrol library */
#define MPATROL_NAME    1023 /* mpatrol's programs have no room for a longer name */

/* The name of an argument of an allocation, whose value is the block's index. Allocations have it if the index is not
 * one more than the last one. */
#define MPATROL_INDEX_ARG "#index"

enum mpatrol_type {
	MPATROL_ALLOC = 'A',
	MPATROL_REALLOC = 'R',
	MPATROL_FREE = 'F',
	MPATROL_HEAP = 'H',
	MPATROL_INTERNAL = 'I',
};

/* A record of an mpatrol trace. */
struct mpatrol_event {
	enum mpatrol_type type;
	uint64_t index;       /* of the block: the same through all its reallocations, and never used again */
	uint64_t address;     /* of the block or area; R: the new one */
	uint64_t size;        /* of the block or area; not in F */
	uint64_t old_address; /* only in R */
	uint32_t thread;
	struct call_site site; /* valid until the next record is put */
};

struct mpatrol_events;

struct mpatrol_events_options {
	frame_namer namer; /* NULL: callers have the names of their text, or are module+0xOFFSET */
	void *namer_context;
	void (*emit)(void *context, const struct mpatrol_event *event);
	void *context;
	struct omissions *omissions; /* counts what has no event; owned by the caller */
};

/* Makes a converter of records into events, to be freed by mpatrol_events_free(). It knows which block is at which
 * address, and makes one event of a release and an allocation by one call of realloc. Its memory is proportional to the
 * live blocks. */
struct mpatrol_events *mpatrol_events_new(const struct mpatrol_events_options *options);
/* Takes a record, and emits its events. Returns how many calls of the trace these events represent. */
unsigned mpatrol_events_put(struct mpatrol_events *events, const struct record *record);
/* Emits a release that was held back. Returns as mpatrol_events_put(). */
unsigned mpatrol_events_finish(struct mpatrol_events *events);
void mpatrol_events_free(struct mpatrol_events *events);

#endif
