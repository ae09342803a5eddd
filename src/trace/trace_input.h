/* The bytes of a trace, unpacked where they are compressed (.gz, .zst).  Private to trace/. */
#ifndef FT_TRACE_TRACE_INPUT_H
#define FT_TRACE_TRACE_INPUT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct input;

/* The input of fd, from its current position, which stays the caller's. With `follow` the end of a
 * regular file is not its end, and a pipe is known to be live. stop: set by a signal's handler when what is followed
 * has ended; NULL none. */
struct input *input_new(int fd, bool follow, const volatile sig_atomic_t *stop);

/* Up to `size` bytes, at least one; 0 at the end (in a file that is followed: for now); a negative
 * errno when reading failed, -EBADMSG when the compressed data are damaged or end within. */
ssize_t input_read(struct input *input, void *data, size_t size);

/* After input_read() has returned 0: waits a tenth of a second for more. 1: try again; 0: nothing
 * is followed; -EINTR: `stop` is set; -EBADMSG: the file has become shorter. */
int input_wait(struct input *input);

/* Waits up to a fifth of a second for bytes in a pipe that is followed; true if none came. */
bool input_await_idle(const struct input *input);

/* Says after -EBADMSG what was wrong, in a clause. */
const char *input_error(const struct input *input);

void input_free(struct input *input);

#endif
