#include "config.h"
#include "calls/probes/kernel_links.h"
#include "breakpoints/fork_text.h"
#include "ptrace/tasks.h"
#include "proc/proc.h"
#include "base/timed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct opening {
	char *path;
	int fd;
};

static void open_probed_file(void *context)
{
	struct opening *const opening = context;

	opening->fd = open(opening->path, O_RDONLY | O_CLOEXEC);
}

static void free_opening(void *context)
{
	struct opening *const opening = context;

	if (opening->fd >= 0)
		close(opening->fd);
	free(opening->path);
	free(opening);
}

bool kernel_group_open(struct kernel_group *group, const struct object *object)
{
	struct opening *const opening = xcalloc(1, sizeof(*opening));

	*opening = (struct opening){xstrdup(object->open_path), -1};
	if (!timed_do(open_probed_file, free_opening, opening))
		return false;
	if (opening->fd >= 0) {
		group->file = xmalloc(sizeof(*group->file));
		*group->file = (struct kernel_file){opening->fd, 1};
		opening->fd = -1;
	}
	free_opening(opening);
	return group->file;
}

void kernel_site_number(struct uprobe_site *site, unsigned char serial)
{
	site->cookie &= ~((UPROBE_SERIALS - 1ull) << UPROBE_SERIAL_SHIFT);
	site->cookie |= (uint64_t)serial << UPROBE_SERIAL_SHIFT;
}

struct kernel_group kernel_group_copy(const struct kernel_group *from, unsigned char serial)
{
	struct kernel_group group = {.object = from->object,
				     .file = from->file,
				     .sites = xreallocarray(NULL, from->count, sizeof(*group.sites)),
				     .places = xreallocarray(NULL, from->count, sizeof(*group.places)),
				     .count = from->count,
				     .capacity = from->count};

	group.file->references++;
	for (size_t i = 0; i < from->count; i++) {
		group.sites[i] = from->sites[i];
		kernel_site_number(&group.sites[i], serial);
		group.places[i] = from->places[i];
	}
	return group;
}

int kernel_group_link(struct process *p, struct kernel_group *group, pid_t tgid)
{
	struct kernel_link *link;

	/* The kernel finds the memory by the leader, which no longer has it when it has ended. */
	if (!proc_is_alive(tgid))
		return -ESRCH;
	ARRAY_GROW(group->links, group->link_capacity, group->link_count);
	link = &group->links[group->link_count];
	link->tgid = tgid;
	const int error =
		uprobe_link(p->tracer->uprobes, tgid, group->file->fd, group->sites, group->count, &link->link);

	group->link_count += error == 0;
	return error;
}

int kernel_group_link_all(struct process *p, struct kernel_group *group)
{
	int error = 0;

	FOR_EACH_TASK(task, p)
		if (!proc_is_alive(task->tgid))
			return -ESRCH;
	FOR_EACH_TASK(task, p) {
		size_t i = 0;

		while (i < group->link_count && group->links[i].tgid != task->tgid)
			i++;
		if (i == group->link_count && !error)
			error = kernel_group_link(p, group, task->tgid);
	}
	return error;
}

void kernel_group_free(struct kernel_group *group)
{
	for (size_t i = 0; i < group->link_count; i++)
		uprobe_unlink(&group->links[i].link);
	if (group->file && !--group->file->references) {
		close(group->file->fd);
		free(group->file);
	}
	free(group->links);
	free(group->sites);
	free(group->places);
}

int kernel_group_clean(const struct kernel_group *group, int mem_fd, pid_t tid)
{
	int error = 0;

	for (size_t i = 0; i < group->count; i++) {
		const struct uprobe_site *const site = &group->sites[i];
		unsigned char original;

		/* A probe is a byte on the only processor that has probes in the kernel. */
		if (pread(group->file->fd, &original, 1, (off_t)site->offset) == 1)
			error |= fork_text_restore(mem_fd, tid, group->places[i], &original, 1);
	}
	return error;
}

void kernel_group_unlink(struct kernel_group *group, pid_t tgid)
{
	for (size_t i = group->link_count; i-- > 0;)
		if (group->links[i].tgid == tgid) {
			uprobe_unlink(&group->links[i].link);
			group->links[i] = group->links[--group->link_count];
		}
}
