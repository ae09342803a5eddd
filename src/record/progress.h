/* Shows counters in one line of the terminal while functrace is attached. */
#ifndef FT_RECORD_PROGRESS_H
#define FT_RECORD_PROGRESS_H

#include "record/trace.h"

/* Decides whether the line is shown in this run. */
void progress_begin(struct run *run);
/* Updates the line. To be called once a second. */
void progress_show(struct run *run);
/* Removes the line, which is not shown again. */
void progress_end(struct run *run);

#endif
