/* Writes rows: see rows.h. */
#include "config.h"
#include "fleet/rows.h"
#include "base/msg.h"
#include "base/own_file.h"
#include "base/time_units.h"
#include "export/row_line.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOCK_TRIES 200 /* one every 10 ms */
#define LOCK_PAUSE (NS_PER_SECOND / 100)
#define FILE_TRIES 4           /* how often the file may be renamed by others before it is locked */
#define TAIL_BYTES (16u << 10) /* how many bytes are read at once to find the end of the last whole line */

struct rows_file {
	char *path, *old_path;
	uint64_t limit;
	uint64_t intervals, missing; /* numbers of intervals: all, and those that could not be written */
	bool has_failed;             /* the last one could not be written */
};

static double known_or_nan(double figure)
{
	return figure == WATCH_UNKNOWN ? NAN : figure;
}

/* Returns what all rows of an interval have in common. */
static struct row_line rows_common(const struct watch_interval *interval)
{
	struct row_line row = row_line_unknown();

	row.host = interval->host;
	row.service = interval->service;
	row.program = interval->program;
	row.build_id = interval->build_id;
	row.pid = interval->pid > 0 ? (uint64_t)interval->pid : 0;
	row.process_start_ns = interval->process_start_ns;
	row.watch_begin_ns = interval->began_ns;
	row.interval_begin_ns = interval->begin_ns;
	row.interval_end_ns = interval->end_ns;
	row.kind = "memory";
	row.way = interval->way;
	row.windows = (double)interval->windows;
	row.looks = (double)interval->looks;
	row.share = interval->share;
	row.cost_budget = interval->cost.budget;
	row.cost_target = interval->cost.target;
	row.cost_own = interval->cost.own;
	row.cost_pause = (double)interval->cost.longest_ns / (double)NS_PER_SECOND;
	row.looked_ns = interval->looked_ns;
	row.scanned_ns = interval->scanned_ns;
	return row;
}

static double growth_or_nan(const struct watch_stack *stack, double growth)
{
	return watch_knows_growth(stack) ? growth : NAN;
}

static void rows_add_stack(struct buf *out, const struct watch_interval *interval, const struct watch_row *stack)
{
	const struct watch_stack *const estimate = &stack->estimate;
	struct row_line row = rows_common(interval);

	row.scope = "stack";
	row.id = stack->id;
	row.has_id = true;
	row.frames = stack->frames;
	row.frame_count = stack->frame_count;
	row.allocated_rate = stack->allocated;
	row.call_rate = stack->calls;
	row.live = estimate->live;
	row.live_low = estimate->live_low;
	row.live_high = estimate->live_high;
	row.blocks = estimate->blocks;
	row.growth = growth_or_nan(estimate, estimate->growth);
	row.growth_low = growth_or_nan(estimate, estimate->growth_low);
	row.growth_high = growth_or_nan(estimate, estimate->growth_high);
	/* Without a scan the estimate has 0 lost bytes. */
	row.lost = interval->lost == WATCH_UNKNOWN ? NAN : estimate->lost;
	row.verdict = watch_verdict_word(estimate->verdict);
	row.samples = (double)estimate->samples;
	row_line_add(out, &row);
}

void rows_add(struct buf *out, const struct watch_interval *interval)
{
	struct row_line row = rows_common(interval);

	for (size_t i = 0; i < interval->count; i++)
		rows_add_stack(out, interval, &interval->rows[i]);
	row.scope = "interval";
	row.lost = known_or_nan(interval->lost);
	row.heap_bytes = known_or_nan(interval->heap_bytes);
	row.heap_blocks = known_or_nan(interval->heap_blocks);
	row.before = known_or_nan(interval->before);
	row.unattributed = known_or_nan(interval->unattributed);
	row.stacks = (double)interval->stacks;
	row.calls_seen = (double)interval->calls;
	row.calls_unseen = (double)interval->unseen;
	row_line_add(out, &row);
}

/* Waits until no other watch writes the file. Returns 0 or -errno; -ETIMEDOUT: another one has had it for too long. */
static int rows_lock(int fd)
{
	for (unsigned tries = 0; flock(fd, LOCK_EX | LOCK_NB); tries++) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (tries == LOCK_TRIES)
			return -ETIMEDOUT;
		nanosleep(&(struct timespec){.tv_nsec = LOCK_PAUSE}, NULL);
	}
	return 0;
}

/* Opens and locks the file, and gets its status. Returns a descriptor or -errno. Another watch, or logrotate, may
 * rename the file before it is locked:
 *
 *	A: opens rows.jsonl | B: renames it | A: locks what is rows.old.jsonl now */
static int rows_open_locked(const struct rows_file *file, struct stat *st)
{
	for (unsigned tries = 0; tries < FILE_TRIES; tries++) {
		const int fd = own_file_open_to_append(file->path);

		if (fd < 0)
			return fd;
		int error = rows_lock(fd);

		if (!error && fstat(fd, st))
			error = -errno;
		if (!error && path_leads_to(file->path, st))
			return fd;
		close(fd);
		if (error)
			return error;
	}
	return -EAGAIN;
}

/* Returns the size of the file's whole lines. The descriptor is only for writing, so the file is opened again. */
static int64_t rows_whole_size(int fd, int64_t size)
{
	char path[64], bytes[TAIL_BYTES];
	int64_t end = size;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	const int in = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (in < 0)
		return -errno;
	while (end > 0) {
		const size_t part = end < (int64_t)sizeof(bytes) ? (size_t)end : sizeof(bytes);
		const int error = read_all_at(in, bytes, part, (uint64_t)end - part);
		const char *const last = error ? NULL : memrchr(bytes, '\n', part);

		end = error ? error : last ? end - (int64_t)part + (last + 1 - bytes) : end - (int64_t)part;
		if (error || last)
			break;
	}
	close(in);
	return end;
}

/* Removes the half line that a killed watch has left at the end of the file. Returns 0 or -errno. */
static int rows_remove_half_line(int fd, struct stat *st)
{
	const int64_t whole = rows_whole_size(fd, st->st_size);

	if (whole < 0)
		return (int)whole;
	if (whole < st->st_size && ftruncate(fd, whole))
		return -errno;
	st->st_size = whole;
	return 0;
}

/* Opens the file for `more` bytes, behind whole lines. Returns a descriptor with a lock, or -errno. */
static int rows_begin_append(const struct rows_file *file, size_t more, struct stat *st)
{
	mode_t mode = 0;

	for (unsigned tries = 0; tries < FILE_TRIES; tries++) {
		const int fd = rows_open_locked(file, st);

		if (fd < 0)
			return fd;
		/* The user may have permitted others to read the older file. */
		if (mode && !st->st_size)
			(void)!fchmod(fd, mode);
		int error = rows_remove_half_line(fd, st);

		if (!error && (!st->st_size || (uint64_t)st->st_size + more <= file->limit))
			return fd;
		if (!error && rename(file->path, file->old_path))
			error = -errno;
		mode = st->st_mode & 0777;
		close(fd);
		if (error)
			return error;
	}
	return -EAGAIN;
}

/* Appends the text by one write. After an error, for example on a full disk, removes what was written of it. */
static int rows_append_text(const struct rows_file *file, const struct buf *text)
{
	struct stat st = {0};
	const int fd = rows_begin_append(file, text->size, &st);

	if (fd < 0)
		return fd;
	int error = write_all(fd, text->data, text->size, NULL);

	/* If this fails, too, the next interval removes the half line. */
	if (error)
		(void)!ftruncate(fd, st.st_size);
	/* A network file system may report a failed write only here. */
	if (close(fd) && !error)
		error = -errno;
	return error;
}

static const char *rows_explain(int error)
{
	if (error == -EEXIST)
		return "there is a file that is not this user's, a link or no regular file";
	if (error == -ETIMEDOUT)
		return "another process has locked it";
	return strerror(-error);
}

struct rows_file *rows_file_open(const char *folder, uint64_t limit)
{
	struct rows_file *const file = xcalloc(1, sizeof(*file));
	struct stat st;

	file->path = xasprintf("%s/" ROWS_NAME, folder);
	file->old_path = xasprintf("%s/" ROWS_OLD_NAME, folder);
	file->limit = limit;
	const int fd = rows_begin_append(file, 0, &st);

	if (fd >= 0) {
		close(fd);
		return file;
	}
	msg_error("the rows of a watch cannot be written to %s: %s", file->path, rows_explain(fd));
	rows_file_close(file);
	return NULL;
}

int rows_file_append(struct rows_file *file, const struct watch_interval *interval)
{
	struct buf text = {0};

	rows_add(&text, interval);
	const int error = rows_append_text(file, &text);

	buf_free(&text);
	file->intervals++;
	file->missing += error != 0;
	if (error && !file->has_failed)
		msg_warn("an interval is missing in %s: %s. Further ones are tried, and missing ones are counted.",
			 file->path, rows_explain(error));
	file->has_failed = error;
	return error;
}

void rows_file_close(struct rows_file *file)
{
	if (!file)
		return;
	if (file->missing)
		msg_warn("%" PRIu64 " of %" PRIu64 " intervals are missing in %s, because it could not be written",
			 file->missing, file->intervals, file->path);
	free(file->path);
	free(file->old_path);
	free(file);
}
