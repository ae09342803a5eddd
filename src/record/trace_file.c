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

/* Chooses the names of trace files and opens them. In a folder the name is PID-N with the first unused N, and no file
 * is ever overwritten. With -o FILE the name is FILE for the first process, FILE.PID for others, and FILE.PID.N for
 * later traces of the same pid: after execve, after tracing was paused, or of a process that got the pid of an earlier
 * one. The suffixes .gz and .zst stay at the end of the name. Files of earlier runs are overwritten, but not a file
 * that this run has written, even under another name. A name that the user did not give is skipped if the file belongs
 * to another user or is a link. */

#define NAMES_MAX 1000000 /* maximum number of names that are tried */

static int trace_file_open_numbered(struct trace *trace, const char *folder)
{
	for (unsigned n = 0; n < NAMES_MAX; n++) {
		char *path = xasprintf("%s%s%d-%u%s%s", folder ? folder : "",
				       folder && folder[strlen(folder) - 1] != '/' ? "/" : "", trace->pid, n,
				       encoding_suffix(trace->run->set->trace.encoding),
				       packing_suffix(trace->run->set->trace.packing));
		const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600);

		if (fd >= 0 || errno != EEXIST) {
			trace->output.path = path;
			return fd < 0 ? -errno : fd;
		}
		free(path);
	}
	return -EEXIST;
}

#define READER_TRIES 100 /* a try every 10 ms */

/* Opens the file that the user named. Opens a fifo nonblocking, because neither open() nor a later write may block
 * without a reader: functrace could not detach from the target meanwhile. Waits up to a second for a reader. */
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

/* Returns true if this run has written to the file already; remembers the file. Compares device and inode, because two
 * names may be links to one file. If two files have the same key by chance, the second one merely gets another name. */
static bool note_written(struct trace_files *files, const struct stat *st)
{
	return !hash_set(&files->written, hash_mix(st->st_dev) ^ st->st_ino, 1);
}

/* Returns true if the trace is written to FILE itself. FILE is for the process that was launched or named by -t or, if
 * that process has ended before its first trace, for the first process that gets a trace. */
static bool takes_file(const struct trace *trace)
{
	const struct trace *other = trace->run->traces;

	if (trace->run->files.first)
		return trace->run->files.first == trace->pid;
	while (other && !other->origin.is_launched && !other->origin.attached_to)
		other = other->next;
	return !other || trace->origin.is_launched || trace->origin.attached_to;
}

/* Returns the name for trace number n of a process, counted from 0. is_first: trace 0 is FILE itself. The caller frees
 * the name. */
static char *trace_file_name_of(const struct trace *trace, bool is_first, uint64_t n)
{
	const char *file = trace->run->set->trace.output, *end = packing_suffix(packing_of_path(file));
	const int length = (int)(strlen(file) - strlen(end));

	if (n)
		return xasprintf("%.*s.%d.%llu%s", length, file, trace->pid, (unsigned long long)n, end);
	return is_first ? xstrdup(file) : xasprintf("%.*s.%d%s", length, file, trace->pid, end);
}

/* Opens the file `path`. is_given: the user gave this name, so it may be a link. Returns a descriptor or -errno.
 * Returns -EEXIST if this run has written the file already, or if is_given is false and the file belongs to another
 * user or is a link. */
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
			trace->output.path = path;
			break;
		}
		free(path);
	}
	hash_set(&files->next, (uint64_t)trace->pid, n + 1);
	return fd;
}

/* Returns true if the path is a character device (/dev/null). All traces may share such a device, so no files with
 * other names are created. */
static bool trace_file_is_device(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISCHR(st.st_mode);
}

/* Opens a pipe or terminal again, so that functrace gets its own nonblocking file description. The open file
 * description with which functrace was started is shared with other programs. Returns -1 for other files and on
 * errors. */
static int open_anew(int fd)
{
	char path[32];
	struct stat st;

	if (fstat(fd, &st) || (!S_ISFIFO(st.st_mode) && !isatty(fd)))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

/* Uses a descriptor that was open when functrace was started, for example standard output, for the trace. Returns a
 * descriptor or -errno. */
static int open_again(struct trace *trace, int from, const char *name)
{
	trace->run->files.first = trace->pid;
	trace->output.path = xstrdup(name);
	trace->output.has_file = false;
	int fd = open_anew(from);

	if (fd < 0)
		fd = fcntl(from, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? -errno : fd;
}

static int open_next(struct trace *trace)
{
	const char *output = trace->run->set->trace.output;

	if (trace->run->set->report.is_live)
		return view_pipe_open(trace);
	if (!output || path_is_folder(output))
		return trace_file_open_numbered(trace, output);
	if (!strcmp(output, "-") || trace->run->set->trace.output_fd >= 0) {
		/* One stream can contain only one trace. */
		if (trace->run->files.first || !takes_file(trace))
			return trace_file_open_numbered(trace, NULL);
		return strcmp(output, "-") ? open_again(trace, trace->run->set->trace.output_fd, output)
					   : open_again(trace, STDOUT_FILENO, "standard output");
	}
	if (!trace_file_is_device(output))
		return open_after(trace);
	trace->output.path = xstrdup(output);
	return open_named(output);
}

/* Adds the path to the list for --report, which reads all traces at the end. */
static void note_path(const struct trace *trace)
{
	const char *const list = trace->run->set->report.list;

	if (list)
		own_file_list_path(list, trace->output.path);
}

int trace_file_open(struct trace *trace)
{
	struct stat st;

	trace->output.has_file = true;
	trace->output.is_removed = false;
	const int fd = open_next(trace);

	trace->output.has_file &= fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	if (trace->output.has_file)
		note_path(trace);
	return fd;
}

int trace_file_beside(struct trace *trace, const char *name, char **path)
{
	const char *const output = trace->run->set->trace.output;
	const bool keeps = !output || path_is_folder(output);

	for (unsigned n = 0;; n++) {
		*path = n ? xasprintf("%s.%s.%u", trace->output.path, name, n)
			  : xasprintf("%s.%s", trace->output.path, name);
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
	const bool is_folder = set->trace.output && path_is_folder(set->trace.output);

	/* Beside FILE, the pattern would also match attachments, and would not match traces with .gz or .zst. */
	if (!set->trace.output || (!is_folder && (set->trace.attachment_count || packing_of_path(set->trace.output))))
		return false;
	shell_quote_add_path(b, set->trace.output);
	if (is_folder) {
		buf_printf(b, "%s*%s%s", b->data[b->size - 1] == '/' ? "" : "/", encoding_suffix(set->trace.encoding),
			   packing_suffix(set->trace.packing));
		return true;
	}
	buf_add_str(b, " ");
	shell_quote_add_path(b, set->trace.output);
	buf_add_str(b, ".[0-9]*");
	return true;
}

int trace_files_begin(struct run *run)
{
	const enum packing packing = run->set->trace.packing;

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
