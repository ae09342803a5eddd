/* The objects of a process: inserts breakpoints into libraries that it loads while it runs (dlopen), and drops the data
 * about those that it unloads (dlclose). */
#ifndef FT_TRACER_PROCESS_OBJECTS_H
#define FT_TRACER_PROCESS_OBJECTS_H

#include "tracer/process.h"

/* Updates the list of the process's objects. If the process is `planted`, inserts breakpoints into new objects. */
void process_update_objects(struct process *p);
/* Calls process_update_objects() when a task is stopped at _dl_debug_state, if the linker's list is complete. */
void process_linker_notice(struct task *task);

#endif
