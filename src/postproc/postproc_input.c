#include "config.h"
#include "postproc/postproc_input.h"
#include "base/msg.h"
#include "trace/stacktrack/stacktrack_layout.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Number of damaged places that are reported one by one; further ones are only counted. */
enum { COMPLAINTS_MAX = 10 };

bool postproc_input_open(struct postproc_input *input, const char *path)
{
	*input = (struct postproc_input){.path = path, .name = path};
	if (!strcmp(path, "-")) {
		input->path = NULL;
		input->name = "standard input";
		input->fd = STDIN_FILENO;
		return true;
	}
	input->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (input->fd < 0)
		msg_error("cannot open %s: %s", path, strerror(errno));
	return input->fd >= 0;
}

bool postproc_input_is_file(const struct postproc_input *input)
{
	struct stat stat;

	return !fstat(input->fd, &stat) && S_ISREG(stat.st_mode);
}

static volatile sig_atomic_t interrupted;

static void postproc_input_go_on(int signal)
{
	(void)signal;
	interrupted = 1;
}

void postproc_input_outlive_interrupt(void)
{
	sigaction(SIGINT, &(struct sigaction){.sa_handler = postproc_input_go_on, .sa_flags = (int)SA_RESETHAND}, NULL);
}

/* If the input is followed or no regular file, makes Ctrl-C end the input instead of this program, so that the results
 * so far are shown. At a pipe, Ctrl-C ends the traced program, too; with --follow, it ends the wait for a growing file.
 * With --follow, SIGTERM does the same as Ctrl-C. A second Ctrl-C ends this program. */
static void outlive_interrupt(const struct postproc_input *input, bool follow)
{
	const struct sigaction action = {.sa_handler = postproc_input_go_on, .sa_flags = (int)SA_RESETHAND};

	if (!postproc_input_is_file(input) || follow)
		postproc_input_outlive_interrupt();
	if (follow)
		sigaction(SIGTERM, &action, NULL);
}

static void warn_of_input(void *context, const char *clause)
{
	struct postproc_input *input = context;

	if (input->complaints++ < COMPLAINTS_MAX)
		msg_warn("%s: %s", input->name, clause);
}

#define MAP_MAX (4u << 20)

/* Reads the map file of the trace, INPUT.map, if it exists. */
static void postproc_input_read_map(struct postproc_input *input)
{
	if (!input->path)
		return;
	char *const path = xasprintf("%s" ENCODING_MAP_SUFFIX, input->path);

	input->map = read_regular_file(path, MAP_MAX, NULL);
	free(path);
}

#define LAYOUT_MAX (1u << 20)

bool postproc_layout_read(struct postproc_options *options)
{
	const char *const path = options->reading.layout_path;
	char error[256];
	size_t size = 0;

	if (!path)
		return true;
	char *const text = read_file(path, LAYOUT_MAX, &size);

	if (!text) {
		msg_error("cannot read the description of StackTrack's entries in %s: %s", path, strerror(errno));
		return false;
	}
	options->reading.expand.layout = options->reading.layout = xcalloc(1, sizeof(*options->reading.layout));
	const bool is_sound = !stacktrack_format_read(text, size, options->reading.layout, error, sizeof(error));

	if (!is_sound)
		msg_error("%s, %s. --show-format prints a description as an example.", path, error);
	free(text);
	return is_sound;
}

bool postproc_input_begin(struct postproc_input *input, const struct postproc_options *options)
{
	struct reader_options reader = {
		.encoding = options->reading.input_encoding,
		.follow = options->reading.follow,
		.stop = &interrupted,
		.complain = warn_of_input,
		.complain_context = input,
		.layout = options->reading.layout,
	};
	char error[512] = "";

	outlive_interrupt(input, options->reading.follow);
	postproc_input_read_map(input);
	reader.map = input->map;
	input->reader = reader_new(input->fd, &reader, error, sizeof(error));
	if (!input->reader)
		msg_error("%s: %s", input->name, error);
	struct stat stat;

	if (!fstat(input->fd, &stat) && S_ISREG(stat.st_mode))
		input->size = (uint64_t)stat.st_size;
	long_work_begin(&input->work);
	return input->reader;
}

/* Shows the progress: for a regular file, which may be compressed, the position in it as a percentage; else the number
 * of bytes read. */
static void show_work(struct postproc_input *input)
{
	const off_t place = input->size ? lseek(input->fd, 0, SEEK_CUR) : 0;
	const uint64_t done = place > 0 ? (uint64_t)place : 0;
	const uint64_t bytes = reader_offset(input->reader);
	char *text, number[32];

	if (done && done <= input->size)
		text = xasprintf("reading %s: %u %%", input->name,
				 (unsigned)((double)done / (double)input->size * 100));
	else
		text = xasprintf("reading %s: %s bytes", input->name, number_grouped(bytes, number));
	long_work_show(&input->work, text, done, input->size);
	free(text);
}

int postproc_input_next(struct postproc_input *input, struct record *record)
{
	const int status = reader_next(input->reader, record);

	if (status != 1)
		long_work_end(&input->work);
	else if (long_work_is_due(&input->work))
		show_work(input);
	return status;
}

bool postproc_input_check(const struct postproc_input *input)
{
	const uint64_t complaints = reader_complaints(input->reader);

	if (!complaints)
		return true;
	msg_error("%s is damaged in %" PRIu64 " place%s%s; %s", input->name, complaints, complaints > 1 ? "s" : "",
		  complaints > COMPLAINTS_MAX ? ", of which the first ten are named above" : "",
		  /* Readers of formats with comments take a damaged line for a comment. */
		  encoding_can(reader_encoding(input->reader), ENCODING_COMMENT)
			  ? "these records are not counted in any figure; damaged lines are shown as they are"
			  : "these records are missing from the output");
	return false;
}

void postproc_input_close(struct postproc_input *input)
{
	if (input->reader)
		reader_close(input->reader);
	else if (input->fd >= 0)
		close(input->fd);
	input->reader = NULL;
	input->fd = -1;
	free(input->map);
	input->map = NULL;
}
