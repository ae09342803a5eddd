#include "config.h"
#include "record/open_files.h"
#include "base/util.h"
#include "proc/proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct open_files {
	pid_t pid;
	struct open_file *items;
	size_t count, capacity;
};

static bool add_descriptor(void *context, int fd)
{
	struct open_files *files = context;
	struct stat st;
	char name[32];

	snprintf(name, sizeof(name), "fd/%d", fd);
	char *const link = proc_path(files->pid, name), *const path = proc_link(files->pid, name);

	if (path) {
		const bool has_size = stat(link, &st) == 0 && S_ISREG(st.st_mode);

		ARRAY_GROW(files->items, files->capacity, files->count);
		files->items[files->count++] =
			(struct open_file){(uint32_t)fd, has_size ? (uint64_t)st.st_size : 0, path};
	}
	free(link);
	return true;
}

static int open_files_compare(const void *a, const void *b)
{
	const struct open_file *first = a, *second = b;

	return first->fd < second->fd ? -1 : first->fd > second->fd;
}

struct open_file *open_files_of(pid_t pid, uint32_t *count)
{
	struct open_files files = {.pid = pid};

	proc_each_descriptor(pid, add_descriptor, &files);
	if (files.count)
		qsort(files.items, files.count, sizeof(*files.items), open_files_compare);
	*count = (uint32_t)files.count;
	return files.items;
}

void open_files_free(struct open_file *files, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		free((char *)(uintptr_t)files[i].path);
	free(files);
}
