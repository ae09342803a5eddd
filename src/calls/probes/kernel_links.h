/* The links of probes in the kernel: groups of functions of one object, for each thread group of a process. */
#ifndef FT_CALLS_PROBES_KERNEL_LINKS_H
#define FT_CALLS_PROBES_KERNEL_LINKS_H

#include "calls/probes/probes.h"
#include "uprobe/uprobes.h"

/* The open file of a group, which the copies of the group in forks' children share. */
struct kernel_file {
	int fd;
	unsigned references;
};

/* The links of a group for one thread group: the kernel filters hits by thread group. */
struct kernel_link {
	pid_t tgid;
	struct uprobe_link link;
};

/* Functions of one object. */
struct kernel_group {
	uint64_t object; /* start of the object */
	struct kernel_file *file;
	struct uprobe_site *sites;
	uint64_t *places; /* the probes' addresses in the process, in the order of the sites; NULL: not linked yet */
	size_t count, capacity;
	struct kernel_link *links;
	size_t link_count, link_capacity;
};

/* Opens the file of a group's object. Returns false if this is impossible or takes too long. */
bool kernel_group_open(struct kernel_group *group, const struct object *object);
/* Makes a copy of the group, without links, for a fork's child, whose probes have another serial. */
struct kernel_group kernel_group_copy(const struct kernel_group *from, unsigned char serial);
void kernel_group_free(struct kernel_group *group);
/* Sets the serial of a site's process in its cookie. */
void kernel_site_number(struct uprobe_site *site, unsigned char serial);
/* Probes the group's functions in a thread group, which must not run, or in all thread groups of the process that have
 * no link yet. Returns 0 or -errno. */
int kernel_group_link(struct process *p, struct kernel_group *group, pid_t tgid);
int kernel_group_link_all(struct process *p, struct kernel_group *group);
/* Writes the file's bytes to where the group's probes are in the text of a stopped task. Returns 0, or the bitwise or
 * of all errors. */
int kernel_group_clean(const struct kernel_group *group, int mem_fd, pid_t tid);
/* Removes the probes in a thread group. */
void kernel_group_unlink(struct kernel_group *group, pid_t tgid);

#endif
