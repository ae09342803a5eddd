/* functrace-probes: which places of a file may get probes. */
#ifndef FT_UPROBE_PROBES_SITES_H
#define FT_UPROBE_PROBES_SITES_H

#include "uprobe/uprobes.h"

/* Checks that each site is one that functrace itself would choose in an allocator's function that the file's symbols
 * name. The kernel writes a byte at a site, also into a program with other rights that the process executes after it
 * was detached. Within an instruction, that byte would change what the program does. Also, only functions that return
 * plainly may have probes at their returns, because the kernel replaces their return addresses. Returns 0 or -errno;
 * -EACCES: a site is no such place. */
int probes_check_sites(int file, const struct uprobe_site *sites, size_t count, bool at_return);

#endif
