#include "config.h"
#include "record/trace_file.h"
#include "record/view_pipe.h"
#include "base/own_file.h"
#include "base/shell_quote.h"
#include "trace/compressor_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Chooses and opens the files of traces. In a folder: PID-N with the first free N, and nothing is ever overwritten.
 * With -o FILE: FILE for the first process, FILE.PID for others, and FILE.PID.N for later traces of the same pid: of
 * another program that the process executes, of a resumed trace, of a process that got the pid of an ended one. The
 * suffixes .gz and .zst stay at the end of the name. Traces of another run are replaced. A file that this run has
 * written is never replaced, whatever name leads to it. A name that functrace makes up is skipped if it belongs to
 * another user or is a link. */

#define NAMES_MAX 1000000 /* names that are tried */

static int trace_file_open_numbered(struct trace *trace, const char *folder)
{
	for (unsigned n = 0; n < NAMES_MAX; n++) {
		char *path =
			xasprintf("%s%s%d-%u%s%s", folder ? folder : "",
				  folder && folder[strlen(folder) - 1] != '/' ? "/" : "", trace->pid, n,
				  encoding_suffix(trace->run->set->encoding), packing_suffix(trace->run->set->packing));
		const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600);

		if (fd >= 0 || errno != EEXIST) {
			trace->path = path;
			return fd < 0 ? -errno : fd;
		}
		free(path);
	}
	return -EEXIST;
}

#define READER_TRIES 100 /* one every 10 ms */

/* Opens the file of a name that the user gave. Neither open() nor later writes may block on a fifo without a reader,
 * because nothing could let go of the target meanwhile. Waits a second for a reader. */
static int open_named(const char *path)
{
	int fd;

	for (unsigned tries = 0;; tries++) {
		fd = own_file_open_given(path, O_NONBLOCK);
		if (fd != -ENXIO || tries == READER_TRIES)
			return fd;
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
}

/* Returns whether this run has already written to the file, and remembers the file. A name does not tell this, because
 * it may be a link. If two files have the same key, the second one merely takes its next name. */
static bool note_written(struct trace_files *files, const struct stat *st)
{
	return !hash_set(&files->written, hash_mix(st->st_dev) ^ st->st_ino, 1);
}

/* Returns whether the trace gets FILE. That belongs to the named or launched process, unless this has ended before its
 * first trace. */
static bool takes_file(const struct trace *trace)
{
	const struct trace *other = trace->run->traces;

	if (trace->run->files.first)
		return trace->run->files.first == trace->pid;
	while (other && !other->is_launched && !other->attached_to)
		other = other->next;
	return !other || trace->is_launched || trace->attached_to;
}

/* Returns the name of the n-th trace (from 0) of a pid, which the caller frees. */
static char *trace_file_name_of(const struct trace *trace, bool is_first, uint64_t n)
{
	const char *file = trace->run->set->output, *end = packing_suffix(packing_of_path(file));
	const int length = (int)(strlen(file) - strlen(end));

	if (n)
		return xasprintf("%.*s.%d.%llu%s", length, file, trace->pid, (unsigned long long)n, end);
	return is_first ? xstrdup(file) : xasprintf("%.*s.%d%s", length, file, trace->pid, end);
}

/* Opens one name. is_given: the user gave it, and it may be a link. Returns a descriptor or -errno; -EEXIST if the file
 * is a trace of this run, or the name was made up and belongs to another user. */
static int open_once(struct trace_files *files, const char *path, bool is_given)
{
	const int fd = is_given ? open_named(path) : own_file_open_to_append(path);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return fd;
	if (note_written(files, &st)) {
		close(fd);
		return -EEXIST;
	}
	if (is_given && ftruncate(fd, 0) == 0)
		return fd;
	const int error = is_given ? -errno : own_file_open(path);

	close(fd);
	return error;
}

static int open_after(struct trace *trace)
{
	struct trace_files *files = &trace->run->files;
	const bool is_first = takes_file(trace);
	const uint64_t *next = hash_get(&files->next, (uint64_t)trace->pid);
	uint64_t n = next ? *next : 0;
	int fd;

	if (is_first)
		files->first = trace->pid;
	for (;; n++) {
		char *path = trace_file_name_of(trace, is_first, n);

		fd = open_once(files, path, is_first && !n);
		if (fd != -EEXIST || n == NAMES_MAX) {
			trace->path = path;
			break;
		}
		free(path);
	}
	hash_set(&files->next, (uint64_t)trace->pid, n + 1);
	return fd;
}

/* Returns whether the path is a device (/dev/null). Writing to it replaces nothing, and no file is made beside it. */
static bool trace_file_is_device(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISCHR(st.st_mode);
}

/* Opens a pipe or terminal anew, with a file description that does not block. The description that functrace was
 * started with stays as it is. Returns -1 for other files and on errors. */
static int open_anew(int fd)
{
	char path[32];
	struct stat st;

	if (fstat(fd, &st) || (!S_ISFIFO(st.st_mode) && !isatty(fd)))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

/* Uses standard output, or a file that was open when functrace was started. */
static int open_again(struct trace *trace, int from, const char *name)
{
	trace->run->files.first = trace->pid;
	trace->path = xstrdup(name);
	trace->has_file = false;
	int fd = open_anew(from);

	if (fd < 0)
		fd = fcntl(from, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? -errno : fd;
}

static int open_next(struct trace *trace)
{
	const char *output = trace->run->set->output;

	if (trace->run->set->report.is_live)
		return view_pipe_open(trace);
	if (!output || path_is_folder(output))
		return trace_file_open_numbered(trace, output);
	if (!strcmp(output, "-") || trace->run->set->output_fd >= 0) {
		/* Two traces in one stream could not be told apart. */
		if (trace->run->files.first || !takes_file(trace))
			return trace_file_open_numbered(trace, NULL);
		return strcmp(output, "-") ? open_again(trace, trace->run->set->output_fd, output)
					   : open_again(trace, STDOUT_FILENO, "standard output");
	}
	if (!trace_file_is_device(output))
		return open_after(trace);
	trace->path = xstrdup(output);
	return open_named(output);
}

/* Adds the path to the list for --report, which reads all traces at the end. */
static void note_path(const struct trace *trace)
{
	const char *list = trace->run->set->report.list;
	const int fd = list ? own_file_open_to_append(list) : -1;

	if (fd < 0)
		return;
	char *line = xasprintf("%s\n", trace->path);

	write_all(fd, line, strlen(line), NULL);
	free(line);
	close(fd);
}

int trace_file_open(struct trace *trace)
{
	struct stat st;

	trace->has_file = true;
	trace->is_removed = false;
	const int fd = open_next(trace);

	trace->has_file &= fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	if (trace->has_file)
		note_path(trace);
	return fd;
}

int trace_file_beside(struct trace *trace, const char *name, char **path)
{
	const char *const output = trace->run->set->output;
	const bool keeps = !output || path_is_folder(output);

	for (unsigned n = 0;; n++) {
		*path = n ? xasprintf("%s.%s.%u", trace->path, name, n) : xasprintf("%s.%s", trace->path, name);
		int fd = keeps ? open(*path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600)
			       : open_once(&trace->run->files, *path, false);

		if (keeps && fd < 0)
			fd = -errno;
		if (fd != -EEXIST || n == NAMES_MAX)
			return fd;
		free(*path);
	}
}

bool trace_file_pattern(const struct settings *set, struct buf *b)
{
	const bool is_folder = set->output && path_is_folder(set->output);

	/* Beside FILE, attachments would match the pattern too, and traces with .gz or .zst would not. */
	if (!set->output || (!is_folder && (set->attachment_count || packing_of_path(set->output))))
		return false;
	shell_quote_add_path(b, set->output);
	if (is_folder) {
		buf_printf(b, "%s*%s%s", b->data[b->size - 1] == '/' ? "" : "/", encoding_suffix(set->encoding),
			   packing_suffix(set->packing));
		return true;
	}
	buf_add_str(b, " ");
	shell_quote_add_path(b, set->output);
	buf_add_str(b, ".[0-9]*");
	return true;
}

int trace_files_begin(struct run *run)
{
	const enum packing packing = run->set->packing;

	if (packing)
		run->files.packer = packer_new(packing);
	return packing && !run->files.packer ? -errno : 0;
}

void trace_files_free(struct trace_files *files)
{
	packer_free(files->packer);
	hash_free(&files->written);
	hash_free(&files->next);
}
