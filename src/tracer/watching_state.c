#include "config.h"
#include "tracer/watching_state.h"
#include "proc/proc.h"
#include "record/run.h"
#include "base/msg.h"
#include "base/own_file.h"
#include "base/time_units.h"
#include "base/util.h"
#include "watch/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BOOT_ID    "/proc/sys/kernel/random/boot_id"
#define LARGEST    (UINT64_C(256) << 20) /* of a file */
#define HASH_BEGIN 0xcbf29ce484222325

/* The state without that of src/watch, the stacks, and the lost blocks of the first scan. All times are of the boot
 * that boot_id names. */
struct saved {
	char magic[16], boot_id[40], version[24];
	uint64_t pid, process_start; /* process_start: in clock ticks since boot */
	struct watching_image image;
	uint64_t began, began_wall, result_wall;
	uint64_t own, target, longest_ns, delayed_ns, in_windows;
	uint64_t calls, windows, looks;
	double first_bytes;
	uint64_t has_first_lost, lost_count; /* lost_count: number of pairs that follow */
};

struct watching_image watching_state_image(pid_t pid)
{
	const pid_t tid = proc_live_thread(pid);
	struct watching_image image = {0};
	struct proc_stat numbers;
	struct stat file;

	if (!tid || !proc_stat(tid, &numbers))
		return image;
	image.stack = numbers.stack;
	char *const path = proc_path(tid, "exe");

	if (!stat(path, &file)) {
		image.device = file.st_dev;
		image.inode = file.st_ino;
	}
	free(path);
	return image;
}

static bool is_same_image(const struct watching_image *a, const struct watching_image *b)
{
	return a->stack == b->stack && a->device == b->device && a->inode == b->inode;
}

static void set_identity(struct saved *saved, pid_t pid)
{
	const int fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
	struct proc_stat stat;

	memcpy(saved->magic, "functrace watch", sizeof(saved->magic));
	snprintf(saved->version, sizeof(saved->version), "%s", PACKAGE_VERSION);
	if (fd >= 0) {
		const ssize_t got = read(fd, saved->boot_id, sizeof(saved->boot_id) - 1);

		(void)got;
		close(fd);
	}
	saved->pid = (uint64_t)pid;
	if (proc_stat(pid, &stat))
		saved->process_start = stat.start;
}

void watching_state_save(const struct watching *one, struct buf *out)
{
	const struct hash_entry *entry;
	struct saved saved = {.image = one->image,
			      .began = one->began,
			      .began_wall = one->began_wall,
			      .result_wall = one->result_wall,
			      .own = watching_own_ns(one),
			      .target = one->spent.target,
			      .longest_ns = one->spent.longest_ns,
			      .delayed_ns = one->work.delayed_ns,
			      .in_windows = one->work.in_windows,
			      .calls = one->calls,
			      .windows = one->windows,
			      .looks = one->looks,
			      .first_bytes = one->heap.first_bytes,
			      .has_first_lost = one->heap.has_first_lost,
			      .lost_count = one->heap.first_lost.count};

	set_identity(&saved, one->p->pid);
	buf_add(out, &saved, sizeof(saved));
	for (size_t i = 0; (entry = hash_next(&one->heap.first_lost, &i));) {
		buf_add(out, &entry->key, sizeof(entry->key));
		buf_add(out, &entry->value, sizeof(entry->value));
	}
}

static uint64_t checksum_of(const unsigned char *bytes, size_t size)
{
	uint64_t hash = HASH_BEGIN;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3;
	return hash;
}

static int write_whole(const char *path, const struct buf *state)
{
	const int fd = own_file_open(path);
	FILE *const out = fd < 0 ? NULL : fdopen(fd, "w");
	int error = fd < 0 ? fd : 0;

	if (!out)
		return error;
	buf_write(state, out);
	error = fflush(out) || ferror(out) ? -errno : 0;
	if (fclose(out) && !error)
		error = -errno;
	return error;
}

static char *state_path(const char *folder, pid_t pid)
{
	return xasprintf("%s/%d.state", folder, pid);
}

void watching_state_remove_old(const struct watching *one)
{
	const char *const folder = one->p->tracer->set->trace.output;
	const struct watching_image now = watching_state_image(one->p->pid);
	char *const path = folder && !is_same_image(&now, &one->image) ? state_path(folder, one->p->pid) : NULL;

	if (path)
		unlink(path);
	free(path);
}

/* Returns true if the process still executes the program of the state, whose beginning is a struct saved. */
static bool can_go_on(const struct buf *state, pid_t pid)
{
	const struct watching_image now = watching_state_image(pid);
	struct saved saved;

	memcpy(&saved, state->data, sizeof(saved));
	return is_same_image(&saved.image, &now);
}

void watching_state_write(const char *folder, pid_t pid, struct buf *state, const struct watch *watch,
			  const struct watching_stacks *stacks)
{
	static bool was_said;

	/* watching_state_remove_old() removes the file. There may already be one of the next program. */
	if (!can_go_on(state, pid))
		return;
	char *const path = state_path(folder, pid), *const temporary = xasprintf("%s.new", path);

	watching_stacks_save(stacks, state);
	watch_save(watch, state);
	const uint64_t sum = checksum_of(state->data, state->size);

	buf_add(state, &sum, sizeof(sum));
	int error = write_whole(temporary, state);

	/* The file is replaced at once, so that a kill leaves the old state or the new one. */
	if (!error && rename(temporary, path) < 0)
		error = -errno;
	if (error) {
		unlink(temporary);
		if (!was_said)
			msg_warn("%s cannot be written: %s. If functrace is started anew, the watch begins anew.", path,
				 strerror(-error));
	}
	was_said = error;
	free(temporary);
	free(path);
}

/* Reads a file of this user. Returns its bytes, which the caller frees; NULL if there is none. */
static unsigned char *read_state(const char *path, size_t *size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	unsigned char *bytes = NULL;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && (uint64_t)st.st_size <= LARGEST) {
		bytes = xreallocarray(NULL, (size_t)st.st_size + 1, 1);
		for (*size = 0; *size < (size_t)st.st_size;) {
			const ssize_t got = read(fd, bytes + *size, (size_t)st.st_size - *size);

			if (got <= 0)
				break;
			*size += (size_t)got;
		}
	}
	close(fd);
	return bytes;
}

static bool is_of_process(const struct saved *saved, const struct watching *one)
{
	struct saved ours = {.version = ""};

	set_identity(&ours, one->p->pid);
	return !memcmp(saved->magic, ours.magic, sizeof(ours.magic)) &&
	       !memcmp(saved->version, ours.version, sizeof(ours.version)) &&
	       !memcmp(saved->boot_id, ours.boot_id, sizeof(ours.boot_id)) && saved->pid == ours.pid &&
	       saved->process_start == ours.process_start && is_same_image(&saved->image, &one->image) &&
	       saved->began <= one->began;
}

static void use_saved(struct watching *one, const struct saved *saved)
{
	one->began = saved->began;
	one->began_wall = saved->began_wall;
	one->result_wall = saved->result_wall;
	one->spent.own_saved = saved->own;
	one->spent.target = saved->target;
	one->spent.longest_ns = saved->longest_ns;
	one->work.delayed_ns = saved->delayed_ns;
	one->work.in_windows = saved->in_windows;
	one->calls = saved->calls;
	one->windows = (size_t)saved->windows;
	one->looks = (size_t)saved->looks;
	one->spent_before = watching_spent_ns(one);
	one->heap.first_bytes = saved->first_bytes;
	one->heap.has_first_lost = saved->has_first_lost;
	one->heap.keeps_first = true;
}

/* Returns false if the bytes, whose checksum is right, are not a state. */
static bool take_parts(struct watching *one, const unsigned char *bytes, size_t size,
		       const struct watch_options *options)
{
	struct saved saved;
	uint64_t pair[2];

	memcpy(&saved, bytes, sizeof(saved));
	bytes += sizeof(saved);
	size -= sizeof(saved);
	if (saved.lost_count > size / sizeof(pair))
		return false;
	const unsigned char *const lost = bytes;

	bytes += saved.lost_count * sizeof(pair);
	size -= (size_t)saved.lost_count * sizeof(pair);
	struct watching_stacks *const stacks = watching_stacks_load(&bytes, &size);
	struct watch *const watch = stacks ? watch_load(bytes, size, options, watching_stacks_count(stacks)) : NULL;

	if (!watch) {
		watching_stacks_free(stacks);
		return false;
	}
	watch_free(one->watch);
	watching_stacks_free(one->stacks);
	one->watch = watch;
	one->stacks = stacks;
	for (uint64_t i = 0; i < saved.lost_count; i++) {
		memcpy(pair, lost + i * sizeof(pair), sizeof(pair));
		hash_set(&one->heap.first_lost, pair[0], pair[1]);
	}
	use_saved(one, &saved);
	return true;
}

void watching_state_take(struct watching *one, const struct watch_options *options)
{
	const char *const folder = one->p->tracer->set->trace.output;
	char *const path = folder ? state_path(folder, one->p->pid) : NULL;
	size_t size = 0;
	unsigned char *const bytes = path ? read_state(path, &size) : NULL;
	struct saved saved;
	uint64_t sum;

	if (bytes && size >= sizeof(saved) + sizeof(sum)) {
		size -= sizeof(sum);
		memcpy(&saved, bytes, sizeof(saved));
		memcpy(&sum, bytes + size, sizeof(sum));
		if (!is_of_process(&saved, one))
			msg_debug(DBG_PROCESS, 1, "%s is of another process or program", path);
		else if (sum != checksum_of(bytes, size) || !take_parts(one, bytes, size, options))
			msg_warn("%s is damaged, so the watch of process %d begins anew.", path, one->p->pid);
		else
			msg_info("the watch of process %d goes on after %zu windows", one->p->pid, one->windows);
	}
	free(bytes);
	free(path);
}
