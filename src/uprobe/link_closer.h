/* Closes links of probes beside the tracing thread, because closing a link takes tens of milliseconds: the kernel waits
 * until no CPU runs the program any more. Several waits at the same time take as long as one. */
#ifndef FT_UPROBE_LINK_CLOSER_H
#define FT_UPROBE_LINK_CLOSER_H

#include <stdbool.h>

/* Closes the descriptor soon. */
void link_close(int fd);
/* Waits until all descriptors are closed. */
void link_close_wait(void);
/* Returns true if all descriptors are closed. */
bool link_close_is_done(void);

#endif
