#include "config.h"
#include "record/attachments.h"
#include "record/run.h"
#include "record/trace_file.h"
#include "proc/proc.h"
#include "base/msg.h"
#include "base/timed.h"
#include "base/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ATTACHMENT_MAX    (64u << 20) /* maximum size of one file in bytes; the rest is cut */
#define CHUNK             65536
#define FAILURES_REPORTED 8

/* The content of a file of /proc, as it was last read. */
struct attachment_text {
	char *bytes; /* content of the file; NULL before the first read */
	size_t size;
};

void attachments_take(struct trace *trace, pid_t tid)
{
	const struct settings *set = trace->run->set;

	if (!set->trace.attachment_count || !trace->output.writer)
		return;
	if (!trace->attachments)
		trace->attachments = xcalloc(set->trace.attachment_count, sizeof(*trace->attachments));
	for (size_t i = 0; i < set->trace.attachment_count; i++) {
		struct attachment_text *const kept = &trace->attachments[i];
		struct attachment_text now;

		if (set->trace.attachments[i].path)
			continue;
		char *const path = proc_path(tid, set->trace.attachments[i].name);

		now.bytes = read_file(path, ATTACHMENT_MAX, &now.size);
		free(path);
		/* If the process is exiting and has released its memory, some files are empty. Keep the older text
		 * then. */
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
	for (size_t i = 0; trace->attachments && i < trace->run->set->trace.attachment_count; i++)
		free(trace->attachments[i].bytes);
	free(trace->attachments);
	trace->attachments = NULL;
}

/* ---- Files ---- */

/* Warns that the file `what` is not attached, up to FAILURES_REPORTED times in a run. */
static void warn_not_attached(const struct trace *trace, const char *what, const char *why)
{
	struct run *const run = trace->run;

	if (run->sums.attachment_failures++ < FAILURES_REPORTED)
		msg_warn("%s is not attached to the trace of process %d: %s%s", what, trace->pid, why,
			 run->sums.attachment_failures == FAILURES_REPORTED ? "; functrace reports no more such files"
									    : "");
}

/* ---- Reading, with a time limit because a read may block for ever ---- */

struct attachments_reading {
	char *path;
	struct stat st;
	char *bytes;
	size_t size;
	bool is_cut; /* the file is longer than ATTACHMENT_MAX */
	int error;   /* errno of reading, or 0 */
};

static void attachments_reading_free(void *context)
{
	struct attachments_reading *const reading = context;

	free(reading->path);
	free(reading->bytes);
	free(reading);
}

/* Reads up to ATTACHMENT_MAX bytes. Returns 0 or an errno. */
static int read_bytes(int fd, struct attachments_reading *reading)
{
	size_t capacity = 0;
	char more;

	for (;;) {
		if (capacity - reading->size < CHUNK) {
			capacity = 2 * capacity + CHUNK;
			reading->bytes = xreallocarray(reading->bytes, capacity, 1);
		}
		const bool is_full = reading->size == ATTACHMENT_MAX;
		const size_t left = ATTACHMENT_MAX - reading->size;
		const ssize_t got = is_full ? read(fd, &more, 1)
					    : read(fd, reading->bytes + reading->size, left < CHUNK ? left : CHUNK);

		if (got < 0 && errno == EINTR)
			continue;
		reading->is_cut = is_full && got > 0;
		if (got <= 0 || is_full)
			return got < 0 ? errno : 0;
		reading->size += (size_t)got;
	}
}

/* Reads reading->path. Rejects all but regular files, because a pipe or a device may have no end. */
static void attachments_read_source(void *context)
{
	struct attachments_reading *const reading = context;
	const int fd = open_regular(reading->path, &reading->st);

	reading->error = fd < 0 ? errno : read_bytes(fd, reading);
	if (fd >= 0)
		close(fd);
}

/* Reads a file. Returns the result, which the caller frees; NULL if reading takes too long. */
static struct attachments_reading *read_in_time(const char *path)
{
	struct attachments_reading *const reading = xcalloc(1, sizeof(*reading));

	reading->path = xstrdup(path);
	return timed_do(attachments_read_source, attachments_reading_free, reading) ? reading : NULL;
}

/* ---- Files beside the trace ---- */

/* Creates a file beside the trace. Returns its descriptor, and in *path its path, which the caller frees. If that
 * fails, warns and returns a negative errno; *path is then invalid. */
static int open_beside(struct trace *trace, const char *name, const char *what, char **path)
{
	const int fd = trace_file_beside(trace, name, path);

	if (fd < 0) {
		warn_not_attached(trace, what, strerror(-fd));
		free(*path);
	}
	return fd;
}

/* Writes a file beside the trace. Returns its path, which the caller frees. If it cannot be written, warns, removes the
 * incomplete file and returns NULL. */
static char *write_beside(struct trace *trace, const char *name, const char *what, const char *bytes, size_t size)
{
	char *path;
	const int fd = open_beside(trace, name, what, &path);

	if (fd < 0)
		return NULL;
	const int error = write_all(fd, bytes, size, NULL);

	close(fd);
	if (error >= 0)
		return path;
	warn_not_attached(trace, what, strerror(-error));
	unlink(path);
	free(path);
	return NULL;
}

static char *attachments_write_text(struct trace *trace, const struct attachment *attachment,
				    const struct attachment_text *text)
{
	if (text->bytes)
		return write_beside(trace, attachment->name, attachment->name, text->bytes, text->size);
	warn_not_attached(trace, attachment->name, "it could not be read in time");
	return NULL;
}

/* Returns true if the copy TRACE.NAME would overwrite the file that is to be copied. */
static bool is_its_copy(const struct trace *trace, const char *name, const struct stat *ours)
{
	char *const path = xasprintf("%s.%s", trace->output.path, name);
	const bool is = path_leads_to(path, ours);

	free(path);
	return is;
}

/* Returns the reason why the file cannot be attached; NULL if it can. */
static const char *why_not(const struct trace *trace, const struct attachment *attachment,
			   const struct attachments_reading *reading)
{
	if (!reading)
		return timed_reason;
	if (reading->error)
		return reading->error == ENOEXEC ? "it is no regular file" : strerror(reading->error);
	if (is_its_copy(trace, attachment->name, &reading->st))
		return "the copy would overwrite it; give another NAME, or another -o";
	return NULL;
}

static char *copy_file(struct trace *trace, const struct attachment *attachment)
{
	struct attachments_reading *const reading = read_in_time(attachment->path);
	const char *const why = why_not(trace, attachment, reading);
	char *path = NULL;

	if (why)
		warn_not_attached(trace, attachment->path, why);
	else
		path = write_beside(trace, attachment->name, attachment->path, reading->bytes, reading->size);
	if (path && reading->is_cut)
		msg_warn("only the first %u MiB of %s are attached to the trace of process %d", ATTACHMENT_MAX >> 20,
			 attachment->path, trace->pid);
	if (reading)
		attachments_reading_free(reading);
	return path;
}

void attachments_write(struct trace *trace, void (*put)(struct trace *trace, const struct record *record))
{
	const struct settings *set = trace->run->set;

	if (!trace->output.has_file || trace->broken)
		return;
	for (size_t i = 0; i < set->trace.attachment_count; i++) {
		const struct attachment *const attachment = &set->trace.attachments[i];
		char *const path = attachment->path ? copy_file(trace, attachment)
				   : trace->attachments
					   ? attachments_write_text(trace, attachment, &trace->attachments[i])
					   : NULL;

		/* The record contains the name without the folder, because the file is in the trace's folder. */
		if (path)
			put(trace, &(struct record){.type = RECORD_ATTACHMENT,
						    .attachment = {attachment->name, path_name(path)}});
		free(path);
	}
}
