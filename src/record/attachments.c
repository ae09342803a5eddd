#include "config.h"
#include "record/attachments.h"
#include "record/run.h"
#include "record/trace_file.h"
#include "proc/proc.h"
#include "base/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ATTACHMENT_MAX    (64u << 20) /* bytes of one that are kept */
#define CHUNK             65536
#define FAILURES_REPORTED 8

/* What was read of a file of /proc. */
struct attachment_text {
	char *bytes; /* NULL: nothing yet */
	size_t size;
};

void attachments_take(struct trace *trace, pid_t tid)
{
	const struct settings *set = trace->run->set;

	if (!set->attachment_count || !trace->writer)
		return;
	if (!trace->attachments)
		trace->attachments = xcalloc(set->attachment_count, sizeof(*trace->attachments));
	for (size_t i = 0; i < set->attachment_count; i++) {
		struct attachment_text *const kept = &trace->attachments[i];
		struct attachment_text now;

		if (set->attachments[i].path)
			continue;
		char *const path = proc_path(tid, set->attachments[i].name);

		now.bytes = read_file(path, ATTACHMENT_MAX, &now.size);
		free(path);
		/* Of one that has no memory any more some are empty. */
		if (!now.bytes || (!now.size && kept->bytes)) {
			free(now.bytes);
			continue;
		}
		free(kept->bytes);
		*kept = now;
	}
}

void attachments_free(struct trace *trace)
{
	for (size_t i = 0; trace->attachments && i < trace->run->set->attachment_count; i++)
		free(trace->attachments[i].bytes);
	free(trace->attachments);
	trace->attachments = NULL;
}

/* ---- Files ---- */

/* what: the file that is to be attached. */
static void failed(const struct trace *trace, const char *what, const char *why)
{
	struct run *const run = trace->run;

	if (run->attachment_failures++ < FAILURES_REPORTED)
		msg_warn("%s is not attached to the trace of process %d: %s%s", what, trace->pid, why,
			 run->attachment_failures == FAILURES_REPORTED ? "; no more of these are reported" : "");
}

/* What can be read without an end in sight, or not at all, is none. */
static int open_source(const char *path, const char **why)
{
	struct stat st;
	const int fd = open_regular(path, &st);

	if (fd < 0)
		*why = errno == ENOEXEC ? "it is no regular file" : strerror(errno);
	return fd;
}

/* 0 or -errno. *is_cut: there is more than is kept. */
static int copy(int from, int to, bool *is_cut)
{
	static char chunk[CHUNK];
	size_t done = 0;

	*is_cut = false;
	for (;;) {
		const ssize_t got = read(from, chunk, sizeof(chunk));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : 0;
		*is_cut = done >= ATTACHMENT_MAX;
		if (*is_cut)
			return 0;
		const int error = write_all(to, chunk, (size_t)got, NULL);

		if (error < 0)
			return error;
		done += (size_t)got;
	}
}

/* The new file, opened to be written, and its path, which the caller frees. */
static int open_beside(struct trace *trace, const char *name, const char *what, char **path)
{
	const int fd = trace_file_beside(trace, name, path);

	if (fd < 0) {
		failed(trace, what, strerror(-fd));
		free(*path);
	}
	return fd;
}

/* NULL: it could not be attached, which has been said. Else its path, which the caller frees. */
static char *write_text(struct trace *trace, const struct attachment *attachment, const struct attachment_text *text)
{
	char *path;

	if (!text->bytes) {
		failed(trace, attachment->name, "it could not be read in time");
		return NULL;
	}
	const int fd = open_beside(trace, attachment->name, attachment->name, &path);

	if (fd < 0)
		return NULL;
	const int error = write_all(fd, text->bytes, text->size, NULL);

	close(fd);
	if (error < 0)
		failed(trace, attachment->name, strerror(-error));
	return path;
}

/* Whether the copy would be written to the file itself. */
static bool is_its_copy(const struct trace *trace, const char *name, int from)
{
	char *const path = xasprintf("%s.%s", trace->path, name);
	struct stat ours, copy;
	const bool is = fstat(from, &ours) == 0 && stat(path, &copy) == 0 && ours.st_dev == copy.st_dev &&
			ours.st_ino == copy.st_ino;

	free(path);
	return is;
}

static char *copy_file(struct trace *trace, const struct attachment *attachment)
{
	const char *why;
	bool is_cut;
	char *path;
	int from = open_source(attachment->path, &why);

	if (from >= 0 && is_its_copy(trace, attachment->name, from)) {
		close(from);
		from = -1;
		why = "its copy would take its place; give another NAME, or another -o";
	}
	if (from < 0) {
		failed(trace, attachment->path, why);
		return NULL;
	}
	const int to = open_beside(trace, attachment->name, attachment->path, &path);

	if (to < 0) {
		close(from);
		return NULL;
	}
	const int error = copy(from, to, &is_cut);

	close(to);
	close(from);
	if (error < 0)
		failed(trace, attachment->path, strerror(-error));
	else if (is_cut)
		msg_warn("of %s only the first %u MiB are attached to the trace of process %d", attachment->path,
			 ATTACHMENT_MAX >> 20, trace->pid);
	return path;
}

void attachments_write(struct trace *trace, void (*put)(struct trace *trace, const struct record *record))
{
	const struct settings *set = trace->run->set;

	if (!trace->has_file || trace->broken)
		return;
	for (size_t i = 0; i < set->attachment_count; i++) {
		const struct attachment *const attachment = &set->attachments[i];
		char *const path = attachment->path     ? copy_file(trace, attachment)
				   : trace->attachments ? write_text(trace, attachment, &trace->attachments[i])
							: NULL;

		/* It lies where the trace does. */
		if (path)
			put(trace, &(struct record){.type = RECORD_ATTACHMENT,
						    .attachment = {attachment->name, path_name(path)}});
		free(path);
	}
}
