/* The part of the probes in the kernel that needs the capabilities CAP_BPF and CAP_PERFMON: loading the program, and
 * making links. The program functrace-probes does this for users who lack them (uprobe_helper.h). */
#ifndef FT_UPROBE_UPROBE_LOAD_H
#define FT_UPROBE_UPROBE_LOAD_H

#include "uprobe/uprobes.h"

/* The maps that the reader uses. It needs no rights to use their descriptors (since Linux 5.19). */
enum uprobe_map {
	UPROBE_MAP_RING,
	UPROBE_MAP_ROWS,
	UPROBE_MAP_SHARED,
	UPROBE_MAP_OUTERS,
	UPROBE_MAP_SIGNALLED,
	UPROBE_MAP_THREADS,
	UPROBE_MAP_FORGOTTEN,
	UPROBE_MAP_LOST,
	UPROBE_MAPS,
};

/* Whose calls the program records (hot_rights.bpf.h). */
struct uprobe_owner {
	pid_t tracer;   /* only those of tracees of this process */
	uint64_t start; /* its start time, in clock ticks since boot */
	uid_t uid;      /* only those of processes whose real user is this one */
};

struct uprobe_program;

/* Loads the program. owner: NULL: the calls of all processes are recorded. Returns NULL, sets *error to -errno, and
 * writes the kernel's reason to `message` ("" if there is none). The caller frees the result. */
struct uprobe_program *uprobe_program_load(const struct uprobes_options *options, const struct uprobe_owner *owner,
					   int *error, char *message, size_t size);
void uprobe_program_free(struct uprobe_program *program);
/* Returns the descriptor of a map, which belongs to the program. */
int uprobe_program_map(const struct uprobe_program *program, enum uprobe_map map);
/* Probes functions, or their returns, of an open file in the thread group `pid`. Returns a descriptor of the link, or
 * -errno; -EINVAL: the kernel is too old. */
int uprobe_program_link(const struct uprobe_program *program, bool at_return, pid_t pid, int file,
			const struct uprobe_site *sites, size_t count);

#endif
