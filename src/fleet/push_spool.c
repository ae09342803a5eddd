/* The spool on disk: see push_spool.h. A file is written under another name and then renamed, so that a file with its
 * final name is always whole. All names are looked up in the folder each time, because there are only few, and so the
 * files are the only state. */
#include "config.h"
#include "fleet/push_spool.h"

#include "base/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX        ".profile"
#define UNFINISHED    ".new"
#define TIME_DIGITS   20 /* of the largest 64-bit number, so that the order of names is that of times */
#define NUMBER_DIGITS 6

struct push_spool {
	int folder, lock;
	size_t files;
	uint64_t bytes;
	unsigned number; /* makes names of files of the same time different */
};

static bool has_suffix(const char *name, const char *suffix)
{
	const size_t length = strlen(name), end = strlen(suffix);

	return length > end && !strcmp(name + length - end, suffix);
}

static bool is_digits(const char *text, size_t count)
{
	return strspn(text, "0123456789") == count;
}

/* Returns true for a name that spool_name() makes. */
static bool is_spooled(const char *name)
{
	return is_digits(name, TIME_DIGITS) && name[TIME_DIGITS] == '-' &&
	       is_digits(name + TIME_DIGITS + 1, NUMBER_DIGITS) &&
	       !strcmp(name + TIME_DIGITS + 1 + NUMBER_DIGITS, SUFFIX);
}

static void take_spooled(struct push_spool_name *name, const char *found)
{
	memcpy(name->text, found, TIME_DIGITS + 1 + NUMBER_DIGITS + sizeof(SUFFIX));
}

static void spool_name(struct push_spool_name *name, uint64_t time_ns, unsigned number)
{
	snprintf(name->text, sizeof(name->text), "%0*" PRIu64 "-%0*u" SUFFIX, TIME_DIGITS, time_ns, NUMBER_DIGITS,
		 number % 1000000);
}

/* Opens the folder anew, because readdir() needs a position of its own. Returns NULL if that is impossible. */
static DIR *spool_list(const struct push_spool *spool)
{
	const int fd = openat(spool->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *const list = fd >= 0 ? fdopendir(fd) : NULL;

	if (!list && fd >= 0)
		close(fd);
	return list;
}

/* Removes what a process that was killed has not finished. */
static void remove_unfinished(struct push_spool *spool)
{
	DIR *const list = spool_list(spool);

	for (struct dirent *entry; list && (entry = readdir(list));)
		if (has_suffix(entry->d_name, SUFFIX UNFINISHED))
			unlinkat(spool->folder, entry->d_name, 0);
	if (list)
		closedir(list);
}

/* Locks the folder for this process. The lock ends with the process, and its children do not have it. Returns false
 * and errno if another process has it. */
static bool lock_spool(struct push_spool *spool)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	spool->lock = openat(spool->folder, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	return spool->lock >= 0 && fcntl(spool->lock, F_SETLK, &lock) == 0;
}

struct push_spool *push_spool_open(const char *folder, size_t files, uint64_t bytes, char *why, size_t why_size)
{
	struct push_spool *const spool = xcalloc(1, sizeof(*spool));

	spool->files = files;
	spool->bytes = bytes;
	spool->lock = -1;
	/* O_NOFOLLOW, because another user's link could lead the files of root into any folder. */
	if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
		spool->folder = -1;
		snprintf(why, why_size, "the folder %s for profiles that wait cannot be made: %s", folder,
			 strerror(errno));
	} else if ((spool->folder = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0) {
		snprintf(why, why_size, "the folder %s for profiles that wait cannot be opened: %s", folder,
			 strerror(errno));
	} else if (lock_spool(spool)) {
		remove_unfinished(spool);
		return spool;
	} else if (errno == EAGAIN || errno == EACCES) {
		snprintf(why, why_size, "another functrace uses the folder %s for profiles that wait", folder);
	} else {
		snprintf(why, why_size, "the folder %s for profiles that wait cannot be locked: %s", folder,
			 strerror(errno));
	}
	push_spool_close(spool);
	return NULL;
}

void push_spool_close(struct push_spool *spool)
{
	if (!spool)
		return;
	if (spool->lock >= 0)
		close(spool->lock);
	if (spool->folder >= 0)
		close(spool->folder);
	free(spool);
}

static int write_spooled(const struct push_spool *spool, const char *name, const void *data, size_t size)
{
	const int fd = openat(spool->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	const int error = write_all(fd, data, size, NULL);
	const int late = close(fd) == 0 ? 0 : -errno; /* some file systems report a full disk only now */

	return error ? error : late;
}

static uint64_t spooled_size(const struct push_spool *spool, const char *name)
{
	struct stat status;

	return fstatat(spool->folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? (uint64_t)status.st_size : 0;
}

/* Removes the oldest files while there are too many files or bytes. Returns how many it removed. */
static size_t spool_drop_oldest(struct push_spool *spool)
{
	struct push_spool_name name;
	uint64_t bytes = 0;
	size_t files = 0, dropped = 0;
	DIR *const list = spool_list(spool);

	for (struct dirent *entry; list && (entry = readdir(list));)
		if (is_spooled(entry->d_name)) {
			files++;
			bytes += spooled_size(spool, entry->d_name);
		}
	if (list)
		closedir(list);
	while (files > 1 && (files > spool->files || bytes > spool->bytes)) {
		name.text[0] = '\0';
		if (!push_spool_next(spool, &name))
			break;
		const uint64_t size = spooled_size(spool, name.text);

		/* The other thread may have sent and removed the file meanwhile. Then it is not lost. */
		if (unlinkat(spool->folder, name.text, 0) == 0)
			dropped++;
		else if (errno != ENOENT)
			break;
		files--;
		bytes -= size < bytes ? size : bytes;
	}
	return dropped;
}

int push_spool_add(struct push_spool *spool, uint64_t time_ns, const void *data, size_t size, size_t *dropped)
{
	struct push_spool_name name;
	char unfinished[sizeof(name) + sizeof(UNFINISHED)];

	if (size > spool->bytes)
		return -EFBIG;
	spool_name(&name, time_ns, spool->number++);
	snprintf(unfinished, sizeof(unfinished), "%s" UNFINISHED, name.text);
	int error = write_spooled(spool, unfinished, data, size);

	if (!error && renameat(spool->folder, unfinished, spool->folder, name.text) != 0)
		error = -errno;
	if (error) {
		unlinkat(spool->folder, unfinished, 0);
		return error;
	}
	*dropped += spool_drop_oldest(spool);
	return 0;
}

size_t push_spool_next(struct push_spool *spool, struct push_spool_name *name)
{
	struct push_spool_name first = {""}, next = {""};
	size_t count = 0;
	DIR *const list = spool_list(spool);

	for (struct dirent *entry; list && (entry = readdir(list));) {
		const char *const found = entry->d_name;

		if (!is_spooled(found))
			continue;
		count++;
		if (!first.text[0] || strcmp(found, first.text) < 0)
			take_spooled(&first, found);
		if (strcmp(found, name->text) > 0 && (!next.text[0] || strcmp(found, next.text) < 0))
			take_spooled(&next, found);
	}
	if (list)
		closedir(list);
	*name = next.text[0] ? next : first;
	return count;
}

char *push_spool_read(struct push_spool *spool, const struct push_spool_name *name, size_t *size)
{
	/* A fifo or a link is not followed or waited for: the folder may be one that others can write to. */
	const int fd = openat(spool->folder, name->text, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) {
		close(fd);
		errno = EINVAL;
		return NULL;
	}
	return read_open_file(fd, spool->bytes, size);
}

void push_spool_remove(struct push_spool *spool, const struct push_spool_name *name)
{
	unlinkat(spool->folder, name->text, 0);
}
