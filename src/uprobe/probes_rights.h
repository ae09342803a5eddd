/* functrace-probes: who asks, and which processes may be probed for this tracer. */
#ifndef FT_UPROBE_PROBES_RIGHTS_H
#define FT_UPROBE_PROBES_RIGHTS_H

#include "uprobe/uprobe_load.h"

/* Finds out who asks: the parent of this process, which must have made the socket. Returns 0 or -errno; -EXDEV: this is
 * a container, where the kernel's numbers of processes are unknown. */
int probes_find_owner(int socket, struct uprobe_owner *owner);
/* Returns true if the parent still is that process. */
bool probes_owner_lives(const struct uprobe_owner *owner);
/* Returns true if the owner traces the process, and both are of the same user. */
bool probes_may_probe(const struct uprobe_owner *owner, pid_t pid);
/* Reduces the rights of this process to the capabilities CAP_BPF and CAP_PERFMON, and makes it unreadable to other
 * processes of its user. Returns 0 or -errno; -EPERM: it lacks these capabilities. */
int probes_reduce_rights(void);

#endif
