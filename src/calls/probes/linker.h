/* What the dynamic linker knows. */
#ifndef FT_CALLS_PROBES_LINKER_H
#define FT_CALLS_PROBES_LINKER_H

#include "ptrace/tracee.h"

/* Whether the list of objects is whole, at the linker's notice: something has been loaded or unloaded, and is not only
 * about to be. Looks for the list once. */
bool linker_ask_done(struct process *p);
/* Marks the objects that are never unloaded. */
void linker_mark_lasting(struct process *p);

#endif
