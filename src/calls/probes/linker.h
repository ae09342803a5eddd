/* Reads what the dynamic linker tells debuggers. */
#ifndef FT_CALLS_PROBES_LINKER_H
#define FT_CALLS_PROBES_LINKER_H

#include "ptrace/tracee.h"

/* Returns whether the list of objects is complete, at a hit of the linker's notice (_dl_debug_state): objects were
 * loaded or unloaded, and are not only about to be. Remembers where the list is. */
bool linker_ask_done(struct process *p);
/* Marks the objects that are never unloaded, object->lasting. */
void linker_mark_lasting(struct process *p);

#endif
