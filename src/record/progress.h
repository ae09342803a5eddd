/* A line that counts while functrace is attached, on a terminal that no launched program writes to as well. */
#ifndef FT_RECORD_PROGRESS_H
#define FT_RECORD_PROGRESS_H

#include "record/trace.h"

/* Decides whether there is such a line. */
void progress_begin(struct run *run);
/* Once a second: shows it anew. */
void progress_show(struct run *run);
/* Takes it away for good. */
void progress_end(struct run *run);

#endif
