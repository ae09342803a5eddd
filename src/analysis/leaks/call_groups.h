/* -c: groups calls by their stacks. */
#ifndef FT_ANALYSIS_LEAKS_CALL_GROUPS_H
#define FT_ANALYSIS_LEAKS_CALL_GROUPS_H

#include "analysis/stage.h"

enum group_order {
	GROUPS_DEFAULT, /* by size, ascending: the largest is last, next to the prompt */
	GROUPS_SIZE,    /* the largest first */
	GROUPS_SIZE_ASC,
	GROUPS_COUNT, /* the most calls first */
	GROUPS_COUNT_ASC,
};

/* Reads "size", "size-asc", "count" or "count-asc". Returns false for anything else. */
bool group_order_parse(const char *text, enum group_order *order);

/* Makes the stage. The calls of a group have the same frames in the same objects; calls without frames are one group.
 * Groups of equal rank are in the order of their first calls; the calls of a group keep the order of the trace. Each
 * call is passed on with its frames. All but the last call of a group say that they share the next one's frames; the
 * last one has the summary. Scans go on after the calls, other records at once, except threads, for which groups have
 * no place. If other objects are mapped at a group's addresses by then, the group's objects are declared again before
 * it. */
struct stage *call_groups_new(struct stage *next, enum group_order order);

#endif
