#include "config.h"
#include "analysis/stream.h"
#include "base/msg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int stream_open(struct stream *stream, const struct output_target *target, uint32_t pid, const char *suffix)
{
	const int fd = output_target_open(target, pid, suffix, &stream->name);

	if (fd < 0)
		return fd;
	stream->out = fdopen(fd, "w");
	if (stream->out)
		return 0;
	const int error = -errno;

	close(fd);
	msg_error("cannot write %s: %s", stream->name, strerror(-error));
	return error;
}

int stream_close(struct stream *stream, int error)
{
	if (stream->out) {
		/* If an earlier write has failed, errno is still its cause, unless a later call has changed errno. If
		 * errno is 0, the cause is unknown, and EIO is reported. */
		errno = errno ? errno : EIO;
		const bool failed = fflush(stream->out) || ferror(stream->out);
		const int cause = errno;

		if ((fclose(stream->out) || failed) && !error) {
			error = -(failed ? cause : errno);
			msg_error("cannot write %s: %s; the output is incomplete. Write it to another place.",
				  stream->name, strerror(-error));
		}
	}
	free(stream->name);
	*stream = (struct stream){0};
	return error;
}

int stream_to_target(const struct output_target *target, uint32_t pid, const char *suffix,
		     int (*write)(void *context, FILE *out), void *context)
{
	struct stream stream = {0};
	int error = stream_open(&stream, target, pid, suffix);

	if (!error)
		error = write(context, stream.out);
	return stream_close(&stream, error);
}
