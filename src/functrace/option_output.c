#include "config.h"
#include "functrace/option_output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* If the output is the name of a descriptor (/dev/fd/63 of a shell's >(COMMAND)), stores a copy of the descriptor. The
 * process that writes the trace cannot open the name, because there it means another descriptor. */
static int take_descriptor(struct parse *parse)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
	struct settings *const s = parse->settings;
	uint64_t fd;

	s->trace.output = named_files_output(s->trace.output);
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		const size_t length = strlen(folders[i]);

		if (strncmp(s->trace.output, folders[i], length) ||
		    !parse_number(s->trace.output + length, INT_MAX, &fd))
			continue;
		s->trace.output_fd = fcntl((int)fd, F_DUPFD_CLOEXEC, 3);
		if (s->trace.output_fd < 0)
			return usage_error(parse, "-o %s: there is no such open descriptor", s->trace.output);
	}
	return 0;
}

static int check_place(struct parse *parse)
{
	struct settings *const s = parse->settings;

	if (!s->trace.output)
		return 0;
	if (take_descriptor(parse))
		return EINVAL;
	const char *const output = s->trace.output;
	const size_t length = strlen(output);

	if (!length)
		return usage_error(parse, "-o: an empty name; give a folder, a file, or - for standard output");
	if (path_is_folder(output))
		return 0;
	if (!strcmp(output, "-") && fcntl(STDOUT_FILENO, F_GETFD) < 0)
		return usage_error(parse, "-o -: standard output is closed");
	if (output[length - 1] == '/')
		return usage_error(parse, "-o %s: there is no such folder; make it first (mkdir -p %s)", output,
				   output);
	if (s->target.pid_count > 1)
		return usage_error(parse, "-o %s: several processes need a folder; make one and give it to -o", output);
	const char *const slash = strrchr(output, '/');

	if (!slash || slash == output)
		return 0;
	char *const folder = xstrndup(output, (size_t)(slash - output));
	const bool exists = path_is_folder(folder);
	const int error = exists ? 0
				 : usage_error(parse, "-o %s: there is no folder %s; make it first (mkdir -p %s)",
					       output, folder, folder);

	free(folder);
	return error;
}

/* Chooses the compression. Without -z the compression follows from the suffix of the file name; the name of a folder
 * does not determine it. */
static int check_packing(struct parse *parse)
{
	struct settings *const s = parse->settings;
	const char *const path = s->trace.output && !path_is_folder(s->trace.output) ? s->trace.output : NULL;

	if (!parse->compress) {
		s->trace.packing = path ? packing_of_path(path) : PACKING_NONE;
		return 0;
	}
	if (packing_choose(path, parse->packing, &s->trace.packing))
		return 0;
	if (s->trace.packing)
		return usage_error(parse,
				   "--compress=%s: the name after -o, %s, has the ending of another "
				   "kind of compression",
				   parse->packing, path);
	return usage_error(parse, "--compress=%s: the kinds are zst and gz", parse->packing);
}

bool option_is_for_terminal(const struct settings *s)
{
	if (!s->trace.output)
		return false;
	if (s->trace.output_fd >= 0)
		return isatty(s->trace.output_fd);
	return strcmp(s->trace.output, "-") ? path_is_terminal(s->trace.output) : isatty(STDOUT_FILENO);
}

int option_output_check(struct parse *parse)
{
	const int error = check_place(parse);

	return error ? error : check_packing(parse);
}
