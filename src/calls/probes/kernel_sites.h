/* Which functions the kernel can probe, and what its program has to record of their calls. */
#ifndef FT_CALLS_PROBES_KERNEL_SITES_H
#define FT_CALLS_PROBES_KERNEL_SITES_H

#include "calls/probes/probes.h"
#include "uprobe/uprobes.h"

/* Returns true if the function belongs to an allocator: it has no other effect than to allocate or release a block, and
 * calls no code of the program. Its row must not need more than the kernel's program records. */
bool kernel_site_is_hot(const struct probe *probe);
/* Returns true if the function is C++'s operator new of a library that gets its memory by malloc. */
bool kernel_site_is_named(const struct probe *probe);
/* Returns true if the function is operator new of another object, such as the program. */
bool kernel_site_is_own_new(const struct probe *probe);
/* Returns NULL if the kernel can probe the function of a breakpoint, and sets *site: the offset is that of the
 * instruction from the breakpoint on, the cookie lacks the process's serial. Otherwise returns the reason, a phrase. */
const char *kernel_site_find(struct process *p, const struct breakpoint *b, struct uprobe_site *site);

#endif
