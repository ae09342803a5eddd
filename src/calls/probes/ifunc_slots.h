/* Finds the functions that IFUNC resolvers chose before functrace watched these resolvers. */
#ifndef FT_CALLS_PROBES_IFUNC_SLOTS_H
#define FT_CALLS_PROBES_IFUNC_SLOTS_H

#include "ptrace/tracee.h"

/* Probes the functions that IFUNC resolvers have returned before functrace watched the resolvers. Their addresses are
 * in the GOT slots that the dynamic linker has filled. Each slot is compared with each resolver only once, because
 * functrace watches the resolvers from then on, and sees what they return. */
void probe_resolved(struct process *p);

#endif
