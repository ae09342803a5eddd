/* Reads the bytes of a trace, and unpacks compressed ones (.gz, .zst). Private to trace/. */
#ifndef FT_TRACE_TRACE_INPUT_H
#define FT_TRACE_TRACE_INPUT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct input;

/* Returns an input that reads fd, which stays the caller's, from its current position. With `follow`, more may come
 * after the end of a regular file, and a pipe is live (input_await_idle()). stop: set by a signal handler when
 * following is to end; NULL if none. */
struct input *input_new(int fd, bool follow, const volatile sig_atomic_t *stop);

/* Reads up to `size` bytes, at least one, and returns their number; 0 at the end (of a followed file: for now); a
 * negative errno if reading failed, -EBADMSG if the compressed data are damaged or incomplete. */
ssize_t input_read(struct input *input, void *data, size_t size);

/* To be called after input_read() has returned 0. Waits a tenth of a second for more. Returns 1 to try again; 0 if the
 * input is not followed; -EINTR if `stop` is set; -EBADMSG if the file has become shorter. */
int input_wait(struct input *input);

/* Waits up to a fifth of a second for bytes in a followed pipe. Returns true if none came. */
bool input_await_idle(const struct input *input);

/* Returns a clause that says what was wrong, after -EBADMSG. */
const char *input_error(const struct input *input);

void input_free(struct input *input);

#endif
