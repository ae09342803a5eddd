/* Definitions of the mpatrol tracing format, for its writer and its reader.
 *
 * The document "tracing file format" of mpatrol defines the format; functrace-formats(5) describes it. */
#ifndef FT_TRACE_MPATROL_MPATROL_H
#define FT_TRACE_MPATROL_MPATROL_H

#include "trace/call_site.h"
#include "trace/unsupported.h"

#define MPATROL_MAGIC   "MTRC"
#define MPATROL_VERSION 10501 /* 1.5.1, which functrace writes */
/* from this version on, records contain the thread, function, file and line */
#define MPATROL_SOURCE  10405
#define MPATROL_TOO_NEW 10600
#define MPATROL_SLOTS   32   /* number of names in each cache, as in the mpatrol library */
#define MPATROL_NAME    1023 /* maximum length of a name in mpatrol's programs, in bytes */

/* Name of an argument that the reader adds to an allocation. Its value is the block's index. The reader adds the
 * argument if the trace has skipped indexes before this index, so that the writer can use the same index. */
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
	/* index of the block; stays the same when the block is reallocated, and is never reused */
	uint64_t index;
	uint64_t address;     /* address of the block or area; in R the new address */
	uint64_t size;        /* size of the block or area, in bytes; not set in F */
	uint64_t old_address; /* address before a reallocation; only in R */
	uint32_t thread;
	/* the place of the call; its strings are valid until the next record is put */
	struct call_site site;
};

struct mpatrol_events;

struct mpatrol_events_options {
	/* finds names of callers; NULL: the names in the frame's text are used, or OBJECT+0xOFFSET */
	frame_namer namer;
	void *namer_context;
	void (*emit)(void *context, const struct mpatrol_event *event);
	void *context;
	struct omissions *omissions; /* counts what the events do not contain; owned by the caller */
};

/* Makes a converter of records into events, to be freed by mpatrol_events_free(). The converter remembers the index of
 * each live block, and makes one event of the release and the allocation of a realloc. Its memory is proportional to
 * the number of live blocks. */
struct mpatrol_events *mpatrol_events_new(const struct mpatrol_events_options *options);
/* Converts a record and emits its events. Returns the number of calls of the trace that these events represent. */
unsigned mpatrol_events_put(struct mpatrol_events *events, const struct record *record);
/* Must be called at the end. Emits the release that was held back because it might have been the first part of a
 * realloc, if there is one. Return value as mpatrol_events_put(). */
unsigned mpatrol_events_finish(struct mpatrol_events *events);
void mpatrol_events_free(struct mpatrol_events *events);

#endif
