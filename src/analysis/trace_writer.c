#include "config.h"
#include "analysis/trace_writer.h"
#include "base/own_file.h"
#include "base/buf.h"
#include "base/msg.h"
#include "base/terminal_escape.h"
#include "trace/compressor_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct output {
	struct stage stage;
	struct output_options options;
	struct writer *writer;
	struct packer *packer; /* NULL if the output is not compressed */
	bool has_process;
	struct object_map objects; /* objects that were passed to options.names */
	char *name;
	int fd;
	bool failed; /* an error was reported */
};

/* Creates DIR/PID-N with the first unused N. Like the trace itself, an output can be read only by its owner. */
static int trace_writer_open_numbered(const char *folder, uint32_t pid, const char *suffix, char **name)
{
	for (unsigned n = 0;; n++) {
		char *path = xasprintf("%s/%" PRIu32 "-%u%s", folder, pid, n, suffix);
		const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

		*name = path;
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return -errno;
		free(path);
	}
}

static bool trace_writer_is_same_file(int input, const struct stat *output)
{
	struct stat stat;

	return input >= 0 && !fstat(input, &stat) && S_ISREG(stat.st_mode) && stat.st_dev == output->st_dev &&
	       stat.st_ino == output->st_ino;
}

/* Opens the target's file. An existing file is truncated only after checking that it is not the input. If it is, prints
 * a message, sets *is_input and returns -EINVAL. Otherwise returns the descriptor, or -errno without a message. */
static int trace_writer_open_file(const struct output_target *target, bool *is_input)
{
	const bool follows = target->sequence && target->sequence->has_begun;
	const int fd = own_file_open_given(target->path, follows ? O_APPEND : 0);
	struct stat st;
	int error = 0;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st)) {
		error = -errno;
	} else if (trace_writer_is_same_file(target->input, &st)) {
		msg_error("%s is the input too; writing it would destroy it. Give another file with -o.", target->path);
		*is_input = true;
		error = -EINVAL;
	} else if (!follows && S_ISREG(st.st_mode) && ftruncate(fd, 0)) {
		error = -errno;
	}
	if (error)
		close(fd);
	return error ? error : fd;
}

/* Writes the line "# trace: NAME" before one of several outputs. Returns 0 or -errno. */
static int trace_writer_write_head(struct output_sequence *sequence, int fd)
{
	struct buf head = {0};

	buf_add_str(&head, sequence->has_begun ? "\n# trace: " : "# trace: ");
	plain_add(&head, sequence->input_name);
	buf_add_char(&head, '\n');
	const int error = write_all(fd, head.data, head.size, NULL);

	sequence->has_begun = true;
	buf_free(&head);
	return error;
}

int output_target_open(const struct output_target *target, uint32_t pid, const char *suffix, char **name)
{
	struct output_sequence *const sequence = target->sequence;
	const bool is_folder = target->path && path_is_folder(target->path);
	bool is_input = false;
	int fd;

	if (!target->path || !strcmp(target->path, "-")) {
		*name = xstrdup("standard output");
		fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		if (fd < 0)
			fd = -errno;
	} else if (is_folder) {
		fd = trace_writer_open_numbered(target->path, pid, suffix, name);
		if (fd >= 0)
			msg_info("output: %s%s%s", *name, sequence ? ", of " : "",
				 sequence ? sequence->input_name : "");
	} else {
		*name = xstrdup(target->path);
		fd = trace_writer_open_file(target, &is_input);
		if (is_input)
			return fd;
	}
	if (fd >= 0 && sequence && !is_folder) {
		const int error = trace_writer_write_head(sequence, fd);

		if (error) {
			close(fd);
			fd = error;
		}
	}
	if (fd < 0)
		msg_error("cannot write %s: %s.%s Choose another place with %s.", *name, strerror(-fd),
			  fd == -ELOOP ? " " OWN_FILE_LINK_WORDS : "", target->option ? target->option : "-o");
	return fd;
}

static int trace_writer_fail(struct output *output, int error)
{
	if (!output->failed)
		msg_error("cannot write %s: %s; the output is incomplete. Give another place with -o.", output->name,
			  strerror(-error));
	output->failed = true;
	return error;
}

/* Writes the map file (encoding_write_map()), if the format has one and the output is a named regular file. */
static void trace_writer_write_map(const struct output *output)
{
	struct stat stat;
	const bool is_file = !fstat(output->fd, &stat) && S_ISREG(stat.st_mode);
	const char *const path = output->options.target.path;
	const int error =
		is_file && path && strcmp(path, "-") ? encoding_write_map(output->options.encoding, output->name) : 0;

	if (error < 0)
		msg_warn("%s" ENCODING_MAP_SUFFIX " cannot be written: %s. The trace can be read without it.",
			 output->name, strerror(-error));
}

static bool open_packer(struct output *output)
{
	output->packer = output->options.writer.packer = packer_new(output->options.packing);
	if (!output->packer)
		msg_error("cannot write %s: no thread could be started to compress it (%s)", output->name,
			  strerror(errno));
	output->failed = !output->packer;
	return output->packer;
}

static int open_writer(struct output *output, const struct record *record)
{
	struct output_options *options = &output->options;
	const uint32_t pid = record->type == RECORD_PROCESS ? record->process.pid : 0;

	char *const suffix = xasprintf("%s%s", encoding_suffix(options->encoding), packing_suffix(options->packing));

	output->fd = output_target_open(&options->target, pid, suffix, &output->name);
	free(suffix);
	if (output->fd < 0) {
		output->failed = true;
		return output->fd;
	}
	if (options->is_compat)
		options->writer.compat = options->is_compat(options->is_compat_context);
	if (options->names) {
		options->writer.namer = names_lookup;
		options->writer.namer_context = options->names;
	}
	if (options->packing && !open_packer(output))
		return -EAGAIN;
	output->writer = writer_new(options->encoding, output->fd, &options->writer);
	if (output->writer) {
		trace_writer_write_map(output);
		return 0;
	}
	output->failed = true;
	msg_error("the format %s can only be read; the formats that can be written are %s",
		  encoding_name(options->encoding), encoding_names(ENCODING_WRITE));
	return -ENOTSUP;
}

/* Rejects a second process if the format has a place for only one, because its calls would seem to be those of the
 * first process. */
static int note_process(struct output *output)
{
	const struct encoding *encoding = output->options.encoding;

	if (output->has_process && !encoding_can(encoding, ENCODING_SEVERAL_PROCESSES)) {
		output->failed = true;
		msg_error("the trace has several processes, and the format %s can contain only one: choose one with "
			  "--pid",
			  encoding_name(encoding));
		return -ENOTSUP;
	}
	output->has_process = true;
	return 0;
}

/* Returns the absolute path of a file's folder, which the caller frees; NULL on errors. */
static char *folder_of(const char *path)
{
	const char *const slash = strrchr(path, '/');
	char *const name = slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup(".");
	char *const folder = realpath(name, NULL);

	free(name);
	return folder;
}

/* Attachments stay in the folder of the input trace. For an output in another folder, returns the absolute path of an
 * attachment, which the caller frees. Returns NULL if the path in the record can stay as it is. */
static char *attachment_moved(const struct output *output, const char *path)
{
	const struct output_target *const target = &output->options.target;

	if (!path || path[0] == '/' || !target->input_path || !target->path || !strcmp(target->path, "-"))
		return NULL;
	char *const from = folder_of(target->input_path), *const to = folder_of(output->name);
	char *const moved = from && to && strcmp(from, to) ? xasprintf("%s/%s", from, path) : NULL;

	free(from);
	free(to);
	return moved;
}

static int trace_writer_put_attachment(struct output *output, const struct record_attachment *attachment)
{
	char *const moved = attachment_moved(output, attachment->path);
	const struct record record = {.type = RECORD_ATTACHMENT,
				      .attachment = {attachment->name, moved ? moved : attachment->path}};
	const int error = writer_put(output->writer, &record);

	free(moved);
	return error;
}

void output_feed_names(struct names *names, struct object_map *objects, const struct record *record)
{
	if (!names)
		return;
	if (record->type == RECORD_PROCESS)
		names_set_start(names, &record->process);
	else if (record->type == RECORD_OBJECT && object_map_put(objects, &record->object) != OBJECT_SAME)
		names_add_object(names, &record->object, NULL);
	else if (record->type == RECORD_BUILD_ID)
		names_add_build_id(names, &record->build_id);
}

static int trace_writer_put(struct stage *stage, const struct record *record)
{
	struct output *output = (struct output *)stage;
	int error = output->writer ? 0 : open_writer(output, record);

	if (!error && record->type == RECORD_PROCESS)
		error = note_process(output);
	if (error)
		return error;
	output_feed_names(output->options.names, &output->objects, record);
	error = record->type == RECORD_ATTACHMENT ? trace_writer_put_attachment(output, &record->attachment)
						  : writer_put(output->writer, record);
	return error ? trace_writer_fail(output, error) : 0;
}

/* Reports the omissions, once, at the end. */
static void trace_writer_report_omissions(const struct output *output)
{
	struct buf words = {0};

	if (omissions_words(&words, writer_omissions(output->writer), OMISSIONS_ALL))
		msg_warn("the format %s%s has no place for these, which were left out: %s",
			 encoding_name(output->options.encoding), output->options.writer.compat ? " of sp-rtrace" : "",
			 buf_str(&words));
	buf_free(&words);
}

static int trace_writer_finish(struct stage *stage)
{
	struct output *output = (struct output *)stage;

	if (!output->writer)
		return 0;
	writer_finish(output->writer);
	trace_writer_report_omissions(output);
	const uint64_t cut = writer_cut_count(output->writer);
	const uint64_t lost = writer_lost_count(output->writer);
	const int error = writer_close(output->writer);

	output->writer = NULL;
	if (error)
		return trace_writer_fail(output, error);
	if (cut)
		msg_warn("%" PRIu64 " values did not fit the format, and were cut or left out", cut);
	if (lost) {
		msg_error(
			"%" PRIu64 " addresses do not fit into the 32-bit pointers of the trace's machine, and were "
			"cut to 32 bits: the output is wrong. If the arch in the trace's header is wrong, correct it.",
			lost);
		return -EOVERFLOW;
	}
	return 0;
}

static void output_free(struct stage *stage)
{
	struct output *output = (struct output *)stage;

	if (output->writer)
		writer_close(output->writer);
	packer_free(output->packer);
	if (output->fd >= 0)
		close(output->fd);
	object_map_free(&output->objects);
	free(output->name);
	free(output);
}

struct stage *output_new(const struct output_options *options)
{
	struct output *output = xmalloc(sizeof(*output));

	*output = (struct output){
		.stage = {.put = trace_writer_put, .finish = trace_writer_finish, .free = output_free},
		.options = *options,
		.fd = -1,
	};
	return &output->stage;
}
