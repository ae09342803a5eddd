#include "config.h"
#include "symbols/objects/mapped_file.h"
#include "proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Returns true if the mapping is a mapping of this file. On some file systems (btrfs, overlayfs) stat() returns another
 * device or inode than /proc/PID/maps shows. So this function maps the file for a moment, and compares the device and
 * inode that the kernel shows for both mappings. */
static bool same_when_mapped(const struct source *source, const struct mapping *mapping)
{
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	const int fd = source_open(source);
	struct maps maps;
	bool same = false;

	if (fd < 0)
		return false;
	void *page = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

	close(fd);
	if (page == MAP_FAILED)
		return false;
	if (!maps_read(getpid(), &maps)) {
		const struct mapping *own = maps_find(&maps, (uintptr_t)page);

		same = own && mapping_same_file(own, mapping);
		maps_free(&maps);
	}
	munmap(page, size);
	return same;
}

static bool same_by_stat(const struct stat *st, const struct mapping *mapping)
{
	return st->st_ino == mapping->inode && major(st->st_dev) == mapping->dev_major &&
	       minor(st->st_dev) == mapping->dev_minor;
}

enum mapped_source_proof { PROOF_NONE, PROOF_STAT, PROOF_MAPPED };

/* Takes ownership of the path, and opens it. Returns true, and keeps path and descriptor, if this is a regular file,
 * and one of the checks that `proof` allows (PROOF_NONE: no check) shows that it is the mapping's file. */
static bool mapped_source_try_path(struct source *source, char *path, enum mapped_source_proof proof,
				   const struct mapping *mapping)
{
	source->path = path;
	source->fd = open(path, O_PATH | O_CLOEXEC);
	if (source->fd >= 0 && !fstat(source->fd, &source->st) && S_ISREG(source->st.st_mode) &&
	    (proof == PROOF_NONE || same_by_stat(&source->st, mapping) ||
	     (proof == PROOF_MAPPED && same_when_mapped(source, mapping))))
		return true;
	source_free(source);
	return false;
}

bool source_find(pid_t pid, const struct mapping *mapping, struct source *source)
{
	char range[64];

	snprintf(range, sizeof(range), "map_files/%llx-%llx", (long long)mapping->start, (long long)mapping->end);
	/* Only a process with CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE can open these links. */
	if (mapped_source_try_path(source, proc_path(pid, range), PROOF_NONE, mapping))
		return true;
	if (mapped_source_try_path(source, proc_path(pid, "exe"), PROOF_STAT, mapping))
		return true;
	if (mapping->path[0] != '/')
		return false;
	/* Try the path in the process's root directory, then in the root directory of this program. */
	char *const inside = xasprintf("root%s", mapping->path);
	const bool found = mapped_source_try_path(source, proc_path(pid, inside), PROOF_MAPPED, mapping) ||
			   mapped_source_try_path(source, xstrdup(mapping->path), PROOF_MAPPED, mapping);

	free(inside);
	return found;
}

int source_open(const struct source *source)
{
	char path[48];

	/* Opens the file of the descriptor, because the path may name another file by now. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", source->fd);
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

void source_free(struct source *source)
{
	if (source->fd >= 0)
		close(source->fd);
	free(source->path);
	*source = (struct source){.fd = -1};
}
