/* Leak kinds: the classes of blocks that are live at the end of a trace, with valgrind's names. A lost block has one of
 * three kinds; a still reachable block has the fourth. */
#ifndef FT_ANALYSIS_LEAKS_LEAK_KINDS_H
#define FT_ANALYSIS_LEAKS_LEAK_KINDS_H

#include "trace/event.h"

/* Sets of leak kinds, as bits: one bit for each enum lost_kind, and one for still reachable blocks. */
#define LEAK_KIND(kind)    (1u << (kind))
#define LEAK_REACHABLE     LEAK_KIND(LOST_KINDS)
#define LEAK_KINDS_ALL     (LEAK_KIND(LOST_KINDS + 1) - 1)
#define LEAK_KINDS_DEFAULT (LEAK_KIND(LOST_DEFINITELY) | LEAK_KIND(LOST_INDIRECTLY))

/* Parses a set in valgrind's syntax: definite, indirect, possible and reachable, separated by commas; or all, or none.
 * Returns false and leaves *kinds unchanged if the text is not such a set. */
bool leak_kinds_parse(const char *text, unsigned *kinds);

#endif
