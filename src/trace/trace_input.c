#include "config.h"
#include "trace/trace_input.h"
#include "trace/compression_kinds.h"
#include "base/util.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#ifndef INPUT_RAW_SIZE
#define INPUT_RAW_SIZE (128u << 10)
#endif
#define FOLLOW_SLEEP 100000000 /* pause before a followed file is read again, in ns */
#define LIVE_WAIT    200       /* time to wait for bytes of a followed input that is no regular file, in ms */

struct input {
	int fd;
	bool follow;                       /* following was asked for, and fd is a regular file */
	bool live;                         /* following was asked for, and fd is no regular file */
	const volatile sig_atomic_t *stop; /* NULL if no signal ends following */
	enum packing packing;
	bool recognised; /* `packing` is known */
	bool in_frame;   /* the position is inside a gzip member or zstd frame */
	/* the last call filled the caller's buffer, so the decompressor may have more output without more input */
	bool out_pending;
	unsigned char *raw;
	size_t start, end; /* range of the bytes in `raw` that are not used yet */
	z_stream gzip;
	ZSTD_DCtx *zstd;
	const char *error;
};

struct input *input_new(int fd, bool follow, const volatile sig_atomic_t *stop)
{
	struct input *input = xcalloc(1, sizeof(*input));
	struct stat st;

	input->fd = fd;
	input->stop = stop;
	input->follow = follow && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	input->live = follow && !input->follow;
	input->raw = xmalloc(INPUT_RAW_SIZE);
	return input;
}

static ssize_t read_raw(struct input *input, void *data, size_t size)
{
	ssize_t got;

	do
		got = read(input->fd, data, size);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* Reads more bytes into `raw`. Returns their number; 0 at the end of the file or if `raw` is full; or a negative
 * errno. */
static ssize_t fill_raw(struct input *input)
{
	if (input->start == input->end)
		input->start = input->end = 0;
	if (input->end == INPUT_RAW_SIZE)
		return 0;
	const ssize_t got = read_raw(input, input->raw + input->end, INPUT_RAW_SIZE - input->end);

	if (got > 0)
		input->end += (size_t)got;
	return got;
}

static int note_bad_input(struct input *input, const char *what)
{
	input->error = what;
	return -EBADMSG;
}

static bool is_zstd(const unsigned char *data)
{
	/* The magic number of a frame, or of a skippable frame. */
	return (data[0] == 0x28 && data[1] == 0xb5 && data[2] == 0x2f && data[3] == 0xfd) ||
	       ((data[0] & 0xf0) == 0x50 && data[1] == 0x2a && data[2] == 0x4d && data[3] == 0x18);
}

/* Recognises the compression from the first bytes: two for gzip, four for zstd. Returns 1 if `packing` is known; 0 if a
 * followed file has fewer than four bytes yet; a negative errno if reading failed. */
static int recognise(struct input *input)
{
	while (input->end < 4) {
		const ssize_t got = fill_raw(input);

		if (got < 0)
			return (int)got;
		if (!got && input->follow)
			return 0;
		if (!got)
			break;
	}
	if (input->end >= 2 && input->raw[0] == 0x1f && input->raw[1] == 0x8b) {
		if (inflateInit2(&input->gzip, 16 + MAX_WBITS) != Z_OK)
			return -ENOMEM;
		input->packing = PACKING_GZIP;
	} else if (input->end >= 4 && is_zstd(input->raw)) {
		input->zstd = ZSTD_createDCtx();
		if (!input->zstd)
			return -ENOMEM;
		input->packing = PACKING_ZSTD;
	}
	input->recognised = true;
	return 1;
}

/* Skips the zeros with which a file of gzip members may be padded. Returns true if another byte follows, where the next
 * member should begin. */
static bool next_member(struct input *input)
{
	while (input->start < input->end && !input->raw[input->start])
		input->start++;
	if (input->start == input->end)
		return false;
	inflateReset(&input->gzip);
	return true;
}

/* Unpacks bytes of `raw`. Returns the number of unpacked bytes, which may be 0, or a negative errno. */
static ssize_t unpack_gzip(struct input *input, void *data, size_t size)
{
	z_stream *z = &input->gzip;

	if (!input->in_frame && !next_member(input))
		return 0;
	input->in_frame = true;
	z->next_in = input->raw + input->start;
	z->avail_in = (uInt)(input->end - input->start);
	z->next_out = data;
	z->avail_out = (uInt)size;
	const int result = inflate(z, Z_NO_FLUSH);

	input->start = input->end - z->avail_in;
	if (result == Z_MEM_ERROR)
		return -ENOMEM;
	if (result == Z_STREAM_END)
		input->in_frame = false;
	else if (result != Z_OK && result != Z_BUF_ERROR && z->avail_out == size)
		return note_bad_input(input, "the gzip data are damaged");
	return (ssize_t)(size - z->avail_out);
}

static ssize_t unpack_zstd(struct input *input, void *data, size_t size)
{
	ZSTD_inBuffer in = {input->raw, input->end, input->start};
	ZSTD_outBuffer out = {data, size, 0};
	const size_t result = ZSTD_decompressStream(input->zstd, &out, &in);
	const bool progress = in.pos != input->start || out.pos;

	input->start = in.pos;
	if (ZSTD_isError(result)) {
		if (out.pos)
			return (ssize_t)out.pos;
		return note_bad_input(input, ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge
						     ? "the zstd data need more than 128 MiB to be unpacked"
						     : "the zstd data are damaged");
	}
	if (progress)
		input->in_frame = result != 0;
	return (ssize_t)out.pos;
}

static ssize_t unpack(struct input *input, void *data, size_t size)
{
	const ssize_t got =
		input->packing == PACKING_GZIP ? unpack_gzip(input, data, size) : unpack_zstd(input, data, size);

	input->out_pending = got == (ssize_t)size;
	return got;
}

static ssize_t read_packed(struct input *input, void *data, size_t size)
{
	for (;;) {
		const size_t had = input->end - input->start;

		if (had || input->out_pending) {
			const ssize_t got = unpack(input, data, size);

			if (got)
				return got;
			if (had && input->end - input->start == had)
				return note_bad_input(input, "the compressed data are damaged");
			if (input->start < input->end)
				continue; /* the rest of the member or frame had no content */
		}
		const ssize_t more = fill_raw(input);

		if (more < 0)
			return more;
		if (more)
			continue;
		if (input->in_frame && !input->follow)
			return note_bad_input(input, "the compressed data end too early");
		return 0;
	}
}

ssize_t input_read(struct input *input, void *data, size_t size)
{
	if (!input->recognised) {
		const int known = recognise(input);

		if (known <= 0)
			return known;
	}
	if (input->packing != PACKING_NONE)
		return read_packed(input, data, size);
	if (input->start == input->end)
		return read_raw(input, data, size);
	const size_t rest = input->end - input->start < size ? input->end - input->start : size;

	memcpy(data, input->raw + input->start, rest);
	input->start += rest;
	return (ssize_t)rest;
}

int input_wait(struct input *input)
{
	const struct timespec pause = {.tv_nsec = FOLLOW_SLEEP};
	struct stat st;

	if (!input->follow)
		return 0;
	/* Check *stop, which the signal handler sets, instead of nanosleep()'s result, because the signal may have come
	 * before nanosleep(). A signal between the check and nanosleep() is noticed a tenth of a second later. */
	if (!input->stop || !*input->stop)
		nanosleep(&pause, NULL);
	if (input->stop && *input->stop)
		return -EINTR;
	const off_t position = lseek(input->fd, 0, SEEK_CUR);

	if (position >= 0 && fstat(input->fd, &st) == 0 && st.st_size < position)
		return note_bad_input(input, "the file has become shorter while it was read");
	return 1;
}

bool input_await_idle(const struct input *input)
{
	struct pollfd ready = {.fd = input->fd, .events = POLLIN};

	return input->live && input->start == input->end && !input->out_pending && poll(&ready, 1, LIVE_WAIT) == 0;
}

const char *input_error(const struct input *input)
{
	return input->error;
}

void input_free(struct input *input)
{
	if (input->packing == PACKING_GZIP)
		inflateEnd(&input->gzip);
	ZSTD_freeDCtx(input->zstd);
	free(input->raw);
	free(input);
}
