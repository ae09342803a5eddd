/* Reads struct r_debug, in which the dynamic linker keeps the list of loaded objects for debuggers. */
#ifndef FT_CALLS_PROBES_R_DEBUG_H
#define FT_CALLS_PROBES_R_DEBUG_H

#include "ptrace/tracee.h"

/* Called at a hit of the linker's _dl_debug_state. Returns false if objects are about to be loaded or unloaded. Returns
 * true if the list of objects is complete, because they have been loaded or unloaded, or if this is unknown. Remembers
 * the address of the linker's struct r_debug. */
bool r_debug_is_complete(struct process *p);
/* Sets object->lasting of the objects that are never unloaded. */
void r_debug_mark_lasting(struct process *p);

#endif
