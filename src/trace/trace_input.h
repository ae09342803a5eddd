/* Reads the bytes of a trace, and unpacks compressed ones (.gz, .zst). Private to trace/. */
#ifndef FT_TRACE_TRACE_INPUT_H
#define FT_TRACE_TRACE_INPUT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct input;

/* Returns an input that reads fd from its current position; the caller closes fd. follow: a regular file may grow after
 * its end is reached; any other fd (a pipe) may pause between its data (input_await_idle()). stop: a signal handler
 * sets *stop to end following; NULL if no signal ends it. */
struct input *input_new(int fd, bool follow, const volatile sig_atomic_t *stop);

/* Reads up to `size` unpacked bytes. Returns their number; 0 at the end of the input, or if a followed file has no more
 * bytes yet; a negative errno if reading failed; -EBADMSG if the compressed data are damaged or incomplete. */
ssize_t input_read(struct input *input, void *data, size_t size);

/* Must be called after input_read() has returned 0. For a followed file, waits a tenth of a second and returns 1:
 * input_read() is to be called again. Returns 0 for any other input; -EINTR if *stop is set; -EBADMSG if the file has
 * become shorter. */
int input_wait(struct input *input);

/* For a followed input that is no regular file: waits up to a fifth of a second for bytes, and returns true if none
 * came. Returns false for any other input, or if some bytes can be unpacked already. */
bool input_await_idle(const struct input *input);

/* After -EBADMSG: returns a clause that describes the error. */
const char *input_error(const struct input *input);

void input_free(struct input *input);

#endif
