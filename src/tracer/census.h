/* Which blocks a process had before its trace began. */
#ifndef FT_TRACER_CENSUS_H
#define FT_TRACER_CENSUS_H

#include "tracer/process.h"

/* All processes are traced from now on, in the midst of their lives: each one's threads stand for a moment, and its
 * trace gets the blocks of its heap that the ledger does not know. Nothing with --no-census, and where nothing that
 * is traced is a block of the heap. False: no task is left to trace. */
bool census_take(struct tracer *t);

#endif
