/* Chooses the mappings of a process that a scan copies: see mapping_choice.h. */
#include "config.h"
#include "scan/capture/mapping_choice.h"
#include "scan/capture/snapshot.h"

#include <string.h>

/* Returns true if the path is a device's: reading a device may have effects. Shared memory and /dev/zero are
 * exceptions. */
static bool mapping_is_device(const char *path)
{
	return !strncmp(path, "/dev/", 5) && strncmp(path, "/dev/shm/", 9) && strncmp(path, "/dev/zero", 9);
}

/* Returns true if a mapping may be a device's although its file is not in /dev: the file is in /sys or /proc, or it is
 * a driver's file without a path. */
static bool may_be_device(const struct mapping *m)
{
	return m->shared && (m->path[0] != '/' || !strncmp(m->path, "/sys/", 5) || !strncmp(m->path, "/proc/", 6));
}

bool mapping_is_wanted(const struct mapping *m)
{
	return m->write && !mapping_is_device(m->path) && strncmp(m->path, "[vv", 3) != 0 &&
	       (m->read || !may_be_device(m));
}

bool mapping_is_constant(const struct maps *maps, size_t i)
{
	const struct mapping *m = &maps->items[i];

	return m->read && !m->write && !m->exec && !m->shared && m->inode && i + 1 < maps->count &&
	       m[1].start == m->end && m[1].write && m[1].inode == m->inode;
}

static bool is_private_memory(const struct mapping *m)
{
	return !m->inode && !m->shared && (!m->path[0] || !strcmp(m->path, "[heap]"));
}

bool mapping_is_protected(const struct maps *maps, size_t i)
{
	const struct mapping *m = &maps->items[i];

	return m->read && !m->write && is_private_memory(m) && m->end - m->start <= SNAPSHOT_MAPPING_MAX &&
	       ((i && m[-1].end == m->start && is_private_memory(&m[-1])) ||
		(i + 1 < maps->count && m[1].start == m->end && is_private_memory(&m[1])));
}
