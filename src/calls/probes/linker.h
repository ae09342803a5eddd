/* Reads the data that the dynamic linker keeps for debuggers. */
#ifndef FT_CALLS_PROBES_LINKER_H
#define FT_CALLS_PROBES_LINKER_H

#include "ptrace/tracee.h"

/* Called at a hit of the linker's _dl_debug_state. Returns true if the list of objects is complete, because objects
 * have been loaded or unloaded; false if they are about to be loaded or unloaded. Remembers the address of the linker's
 * struct r_debug. */
bool linker_ask_done(struct process *p);
/* Sets object->lasting of the objects that are never unloaded. */
void linker_mark_lasting(struct process *p);

#endif
