#include "config.h"
#include "postproc-dump.h"
#include "base/buf.h"
#include "base/msg.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FLUSH_SIZE (64u << 10)

static int write_out(int fd, const char *name, struct buf *out)
{
	const int error = write_all(fd, out->data, out->size, NULL);

	out->size = 0;
	if (error)
		msg_error("cannot write %s: %s; what is there is not complete. Give another place with -o.", name,
			  strerror(-error));
	return error;
}

int postproc_dump(struct reader *reader, const struct dump_options *options, const struct output_target *target,
		  bool is_live)
{
	struct buf out = {0};
	char *name = NULL;
	int status = 1, error = 0;
	const int fd = output_target_open(target, 0, ".txt", &name);

	if (fd < 0)
		error = fd;
	while (!error && (status = reader_dump(reader, options, &out)) == 1)
		if (is_live || out.size >= FLUSH_SIZE)
			error = write_out(fd, name, &out);
	if (!error)
		error = write_out(fd, name, &out);
	if (fd >= 0)
		close(fd);
	if (!error && status < 0)
		msg_error("%s", reader_error(reader));
	free(name);
	buf_free(&out);
	return error ? error : status;
}
