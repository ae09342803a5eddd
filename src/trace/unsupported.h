/* Counts what a format has no place for. A writer counts; a user reports once, at the end. */
#ifndef FT_TRACE_UNSUPPORTED_H
#define FT_TRACE_UNSUPPORTED_H

#include <stdbool.h>
#include <stdint.h>

enum omission {
	/* Whole calls. */
	OMITTED_FAILED,          /* allocations without an id */
	OMITTED_UNKNOWN_RELEASE, /* of blocks that were not seen allocated */
	OMITTED_OTHER_RESOURCE,
	OMITTED_COPY,
	/* Parts of calls. */
	OMITTED_FUNCTION, /* the format has one name for all allocations, and one for all releases */
	OMITTED_TIME,
	OMITTED_STACK, /* beyond what the format has a place for */
	OMITTED_FRAME_NAME,
	OMITTED_ARGUMENT,
	OMITTED_CONTEXT,
	/* Other records. */
	OMITTED_PROCESS, /* its pid, name, machine and start */
	OMITTED_DECLARATION,
	OMITTED_OBJECT,
	OMITTED_BUILD_ID,
	OMITTED_SCAN,
	OMITTED_BASELINE, /* number of blocks */
	OMITTED_RESIDENT,
	OMITTED_THREAD, /* names of threads, or threads */
	OMITTED_NOTE,
	OMITTED_HEAP,
	OMITTED_AREA,
	OMITTED_ATTACHMENT,
	OMITTED_COMMENT,
	OMISSIONS,
};

struct omissions {
	uint64_t count[OMISSIONS];
};

struct buf;
struct record;

/* Counts a record, other than a call, for which the format has no place. */
void omissions_add(struct omissions *omissions, const struct record *record);

/* Sets of omissions: a bit for each. */
#define OMISSIONS_ALL        ((UINT32_C(1) << OMISSIONS) - 1)
#define OMISSIONS_CALL       ((UINT32_C(1) << OMITTED_FUNCTION) - 1) /* whole calls */
#define OMISSIONS_BIT(which) (UINT32_C(1) << (which))

/* Appends "3 times, 1 note" for the omissions in the set. Returns false and appends nothing if there are none. */
bool omissions_words(struct buf *out, const struct omissions *omissions, uint32_t set);

#endif
