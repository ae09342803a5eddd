/* Counts omissions: records and parts of records for which a format has no place. The writer counts them; the program
 * that uses the writer reports them once, at the end. */
#ifndef FT_TRACE_UNSUPPORTED_H
#define FT_TRACE_UNSUPPORTED_H

#include <stdbool.h>
#include <stdint.h>

enum omission {
	/* Calls that were omitted as a whole. */
	OMITTED_FAILED,          /* failed allocations, which have no id */
	OMITTED_UNKNOWN_RELEASE, /* releases of blocks that no call of the trace has allocated */
	OMITTED_OTHER_RESOURCE,
	OMITTED_COPY,
	/* Members that were left out of calls, while the rest of each call was written. */
	/* name of the function: the format has one name for all allocations, and one for all releases */
	OMITTED_FUNCTION,
	OMITTED_TIME,
	OMITTED_STACK, /* stacks of which only the first frame was written; each counts once */
	OMITTED_FRAME_NAME,
	OMITTED_ARGUMENT,
	OMITTED_CONTEXT,
	/* Other records that were omitted. */
	OMITTED_PROCESS, /* pid, name, machine and start of the process */
	OMITTED_DECLARATION,
	OMITTED_OBJECT,
	OMITTED_BUILD_ID,
	OMITTED_SCAN,
	OMITTED_BASELINE, /* counted in blocks */
	OMITTED_RESIDENT,
	OMITTED_THREAD, /* thread records */
	OMITTED_NOTE,
	OMITTED_HEAP,
	OMITTED_AREA,
	OMITTED_ATTACHMENT,
	OMITTED_COMMENT,
	OMITTED_ESTIMATE, /* estimates and intervals */
	OMISSIONS,
};

struct omissions {
	uint64_t count[OMISSIONS];
};

struct buf;
struct record;

/* Counts a record, other than a call, for which the format has no place. */
void omissions_add(struct omissions *omissions, const struct record *record);

/* Sets of omissions, as bits. */
#define OMISSIONS_ALL        ((UINT32_C(1) << OMISSIONS) - 1)
#define OMISSIONS_CALL       ((UINT32_C(1) << OMITTED_FUNCTION) - 1) /* calls that were omitted as a whole */
#define OMISSIONS_BIT(which) (UINT32_C(1) << (which))

/* Appends a list like "3 times, 1 note" of the omissions in the set. Returns false and appends nothing if there are
 * none. */
bool omissions_words(struct buf *out, const struct omissions *omissions, uint32_t set);

#endif
