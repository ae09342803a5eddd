#include "config.h"
#include "postproc/postproc_dump.h"
#include "base/buf.h"
#include "base/msg.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FLUSH_SIZE (64u << 10)

static int write_out(int fd, const char *name, struct buf *out)
{
	const int error = write_all(fd, out->data, out->size, NULL);

	out->size = 0;
	if (error)
		msg_error("cannot write %s: %s; the output is incomplete. Give another place with -o.", name,
			  strerror(-error));
	return error;
}

int postproc_dump(const struct postproc_input *input, const struct postproc_options *options,
		  struct output_sequence *sequence)
{
	const struct output_target target = {.path = options->writing.output, .input = input->fd, .sequence = sequence};
	const bool is_live = options->reading.follow || !postproc_input_is_file(input);
	struct reader *const reader = input->reader;
	struct buf out = {0};
	char *name = NULL;
	int status = 1, error = 0;
	const int fd = output_target_open(&target, 0, ".txt", &name);

	if (fd < 0)
		error = fd;
	while (!error && (status = reader_dump(reader, &options->dump_options, &out)) == 1)
		if (is_live || out.size >= FLUSH_SIZE)
			error = write_out(fd, name, &out);
	if (!error)
		error = write_out(fd, name, &out);
	if (fd >= 0)
		close(fd);
	if (!error && status < 0)
		msg_error("%s: %s", input->name, reader_error(reader));
	if (reader_skipped(reader))
		msg_warn("%s: %" PRIu64 " messages have unknown types: their fields are not shown", input->name,
			 reader_skipped(reader));
	free(name);
	buf_free(&out);
	return error || status ? EXIT_FAILURE : EXIT_SUCCESS;
}

int postproc_expand(struct postproc_input *input, const struct postproc_options *options)
{
	const struct output_target target = {.path = options->writing.output, .input = input->fd};
	char *name = NULL;
	const int fd = output_target_open(&target, 0, ".xml", &name);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	bool sound = false;

	if (out) {
		sound = stacktrack_expand(input->fd, input->name, out, &options->reading.expand);
		if (fclose(out)) {
			msg_error("cannot write %s: %s", name, strerror(errno));
			sound = false;
		}
	}
	free(name);
	postproc_input_close(input);
	return sound ? EXIT_SUCCESS : EXIT_FAILURE;
}

int postproc_show_format(void)
{
	stacktrack_show_format(stdout);
	if (!fflush(stdout))
		return EXIT_SUCCESS;
	msg_error("cannot write the description: %s", strerror(errno));
	return EXIT_FAILURE;
}
