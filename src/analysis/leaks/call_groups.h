/* -c: groups calls by their stacks. */
#ifndef FT_ANALYSIS_LEAKS_CALL_GROUPS_H
#define FT_ANALYSIS_LEAKS_CALL_GROUPS_H

#include "analysis/stage.h"

enum group_order {
	/* by size, ascending, so that the largest group is last, next to the shell's prompt */
	GROUPS_DEFAULT,
	GROUPS_SIZE, /* by size, the largest first */
	GROUPS_SIZE_ASC,
	GROUPS_COUNT, /* by number of calls, the largest first */
	GROUPS_COUNT_ASC,
};

/* Parses "size", "size-asc", "count" or "count-asc". Returns false for any other text. */
bool group_order_parse(const char *text, enum group_order *order);

/* Makes the stage. The calls of a group have the same frames in the same objects; all calls without frames are one
 * group. Groups with equal size or count are sorted by their first calls; the calls of a group stay in the order of the
 * trace. The calls are passed on at the end, each with its frames. The last call of a group contains a summary of the
 * group as text; all others have shares_next set. Scans are passed on after the calls. Thread records are dropped. All
 * other records are passed on at once. If other objects are mapped at a group's addresses at the end, the group's
 * objects are declared again before the group. */
struct stage *call_groups_new(struct stage *next, enum group_order order);

#endif
