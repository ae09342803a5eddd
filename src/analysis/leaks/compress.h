/* -c: calls grouped by their stacks. */
#ifndef FT_ANALYSIS_LEAKS_COMPRESS_H
#define FT_ANALYSIS_LEAKS_COMPRESS_H

#include "analysis/stage.h"

enum group_order {
	GROUPS_DEFAULT, /* the size, ascending: the worst stands last, next to the prompt */
	GROUPS_SIZE,    /* the largest first */
	GROUPS_SIZE_ASC,
	GROUPS_COUNT, /* the most calls first */
	GROUPS_COUNT_ASC,
};

/* "size", "size-asc", "count", "count-asc"; false for anything else. */
bool group_order_parse(const char *text, enum group_order *order);

/* Groups have the same frames in the same objects; calls without frames are one group.  Equal
 * groups are ordered by their first calls; a group's calls keep the order of the trace.  Each is
 * given out with the frames; all but the last say that they share the next one's, which has the
 * summary.  Everything but calls goes on at once, but for threads, which groups have no place for.
 * Before a group from a time when other objects were mapped at its addresses, those are declared
 * again. */
struct stage *compress_new(struct stage *next, enum group_order order);

#endif
