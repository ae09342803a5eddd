/* functrace-postproc: reads traces, passes the records of each through the stages that the options need, and writes the
 * results. */
#include "config.h"
#include "postproc/postproc_dump.h"
#include "postproc/postproc_checks.h"
#include "postproc/postproc_input.h"
#include "postproc/postproc_options.h"
#include "postproc/postproc_run.h"
#include "postproc/postproc_views.h"
#include "base/long_work.h"
#include "base/msg.h"
#include "base/terminal_escape.h"
#include "live/live_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The state of the program. */
struct postproc {
	struct postproc_options options;
	struct index_set include, exclude;
	struct output_sequence sequence;
	struct views views;               /* used only if the options need views */
	struct suppressions suppressions; /* suppressions for -l */
	/* owns the opened debug files, which the names of all traces share, so that each file is read only once */
	struct names *files;
	const char *first;    /* name of the first input; NULL: there was none */
	bool has_rows;        /* that input has rows (ENCODING_ESTIMATES) */
	bool failed;          /* an error was reported */
	bool found_leaks;     /* true if leaks were found in at least one trace */
	bool has_match;       /* true if in at least one trace every filter matched something */
	struct buf unmatched; /* filters that matched nothing in the other traces, one sentence per line */
};

static bool read_indices(const char *path, struct index_set *set)
{
	size_t line = 0;
	const int error = path ? index_set_read(set, path, &line) : 0;

	if (error == -EINVAL)
		msg_error("%s, line %zu: an event's number is expected", path, line);
	else if (error)
		msg_error("cannot read %s: %s", path, strerror(-error));
	return !error;
}

/* Checks that the folders in the value of an option exist, because a mistyped name would only have the effect that no
 * files are found. separator: characters between the folders. */
static bool check_folders(const char *option, const char *folders, const char *separator)
{
	bool sound = true;

	for (const char *p = folders; p && *p; p += *p != '\0') {
		const size_t length = strcspn(p, separator);
		char *folder = xstrndup(p, length);

		if (length && !path_is_folder(folder)) {
			msg_error("%s=%s: there is no such folder", option, folder);
			sound = false;
		}
		free(folder);
		p += length;
	}
	return sound;
}

/* Reads the files that options name, and checks that the folders that they name exist. Returns false after a
 * message. */
static bool postproc_main_prepare(struct postproc *postproc)
{
	struct postproc_options *options = &postproc->options;

	if (!read_indices(options->reading.include_path, &postproc->include) ||
	    !read_indices(options->reading.exclude_path, &postproc->exclude) || !postproc_layout_read(options) ||
	    !check_folders("--sysroot", options->select.sysroot, "") ||
	    !check_folders("--debug-path", options->names.debug_path, ":"))
		return false;
	for (size_t i = 0; options->leaks && i < options->views.suppression_count; i++)
		if (!suppressions_read(&postproc->suppressions, options->views.suppressions[i]))
			return false;
	if (postproc->suppressions.count)
		options->filters.stacks.suppressions = &postproc->suppressions;
	if (options->reading.include_path)
		options->select.include = &postproc->include;
	if (options->reading.exclude_path)
		options->select.exclude = &postproc->exclude;
	if (options->call_address.object)
		options->select.call_address = &options->call_address;
	return true;
}

/* Appends the lines of `unmatched` to postproc->unmatched. If there are several traces, puts the trace's name before
 * each line. */
static void note_unmatched(struct postproc *postproc, const struct postproc_input *input, struct buf *unmatched)
{
	const bool several = postproc->options.reading.input_count > 1;
	char *rest = unmatched->size ? xstrdup(buf_str(unmatched)) : NULL, *const text = rest, *line;

	postproc->has_match |= !text;
	while ((line = strsep(&rest, "\n")))
		if (*line) {
			/* plain_add() escapes control characters: a line end in the name would begin another
			 * message. */
			plain_add(&postproc->unmatched, several ? input->name : "");
			buf_printf(&postproc->unmatched, "%s%s\n", several ? ": " : "", line);
		}
	free(text);
}

/* Runs the live view. input: the trace to show; NULL: standard input is a socket over which the traces come. Returns
 * the exit status. */
static int show_live(const struct postproc_options *options, struct postproc_input *input)
{
	const struct view_options *views = &options->views;
	const struct live_options live = {
		.interval = views->interval > 0 ? views->interval : 1,
		.count = views->count,
		.top = views->report_options.top,
		.sysroot = options->names.sysroot,
		.tracer = views->tracer,
		.names = &options->names,
		.input_name = input ? input->name : "functrace",
		.pid = options->prepare.pid,
	};

	if (input) {
		const int status = live_run(input->reader, &live);

		return postproc_input_check(input) ? status : EXIT_FAILURE;
	}
	postproc_input_outlive_interrupt();
	return live_run_all(STDIN_FILENO, &live);
}

/* A report on rows has other figures than one on traces. Returns false after a message if the input is of another sort
 * than the first one. */
static bool is_like_others(struct postproc *postproc, const struct postproc_input *input)
{
	const bool has_rows = encoding_can(reader_encoding(input->reader), ENCODING_ESTIMATES);

	if (postproc->first && has_rows != postproc->has_rows) {
		msg_error("%s and %s: one has rows of a watch, the other a trace, and they cannot be shown together",
			  postproc->first, input->name);
		return false;
	}
	postproc->first = input->name;
	postproc->has_rows = has_rows;
	return true;
}

static void read_trace(struct postproc *postproc, struct postproc_input *input)
{
	const struct postproc_options *options = &postproc->options;
	struct output_sequence *const sequence = options->reading.input_count > 1 ? &postproc->sequence : NULL;
	struct postproc_outcome outcome;

	postproc->sequence.input_name = input->name;
	if (!postproc_input_begin(input, options) ||
	    !postproc_options_fit(options, reader_encoding(input->reader), input->name) ||
	    !is_like_others(postproc, input)) {
		postproc->failed = true;
	} else if (options->views.live) {
		postproc->failed |= show_live(options, input) != EXIT_SUCCESS;
	} else if (options->dump) {
		postproc->failed |= postproc_dump(input, options, sequence) != EXIT_SUCCESS;
	} else {
		postproc_run(input, options, sequence, view_options_want(&options->views) ? &postproc->views : NULL,
			     &outcome);
		postproc->failed |= !outcome.sound || (outcome.is_incomplete && options->error_exitcode);
		postproc->found_leaks |= outcome.found_leaks;
		if (outcome.sound)
			note_unmatched(postproc, input, &outcome.unmatched);
		buf_free(&outcome.unmatched);
	}
	postproc_input_close(input);
}

/* Reports filters that matched nothing as errors, unless in at least one trace every filter matched something. An empty
 * result is an error because a script would take it for the result of a program without leaks. */
static void postproc_main_report_unmatched(struct postproc *postproc)
{
	if (postproc->has_match || !postproc->unmatched.size)
		return;
	char *rest = (char *)(uintptr_t)buf_str(&postproc->unmatched), *line;

	while ((line = strsep(&rest, "\n")))
		if (*line)
			msg_error("%s", line);
	postproc->failed = true;
}

/* Reads one input. If it cannot be read, reports that and sets postproc->failed; the caller continues with other
 * inputs. */
static void read_input(struct postproc *postproc, const char *path)
{
	struct postproc_input input;

	if (postproc->options.views.takes_traces)
		postproc->failed |= show_live(&postproc->options, NULL) != EXIT_SUCCESS;
	else if (!postproc_input_open(&input, path))
		postproc->failed = true;
	else if (postproc->options.expand_events)
		postproc->failed |= postproc_expand(&input, &postproc->options) != EXIT_SUCCESS;
	else
		read_trace(postproc, &input);
}

/* Reads inputs that are shown together, and writes the views. Returns false after a message if the views could not be
 * begun; then other inputs would fail, too. */
static bool show_together(struct postproc *postproc, const char *const *inputs, size_t count,
			  struct output_sequence *sequence)
{
	const struct postproc_options *options = &postproc->options;
	struct views *const views = &postproc->views;
	const bool begins = views_begin(views, options);

	views->sequence = sequence;
	if (begins && options->views.old) {
		views->reads_old = true;
		read_input(postproc, options->views.old);
		views->reads_old = false;
	}
	for (size_t i = 0; begins && i < count; i++)
		read_input(postproc, inputs[i]);
	postproc->failed |= !begins || !views_write(views);
	postproc->found_leaks |= begins && options->views.report && views_found_leaks(views);
	postproc->failed |= begins && options->views.report && options->error_exitcode && !postproc->found_leaks &&
			    views_know_nothing(views);
	views_free(views);
	return begins;
}

static void read_traces(struct postproc *postproc)
{
	const struct postproc_options *options = &postproc->options;
	const size_t count = options->reading.input_count;

	if (!view_options_want(&options->views)) {
		for (size_t i = 0; i < count; i++)
			read_input(postproc, options->reading.inputs[i]);
	} else if (options->views.separate && count > 1) {
		for (size_t i = 0; i < count; i++)
			if (!show_together(postproc, &options->reading.inputs[i], 1, &postproc->sequence))
				break;
	} else {
		show_together(postproc, options->reading.inputs, count, NULL);
	}
	postproc_main_report_unmatched(postproc);
}

static int status_of(const struct postproc *postproc)
{
	if (postproc->failed)
		return EXIT_FAILURE;
	return postproc->found_leaks ? postproc->options.error_exitcode : EXIT_SUCCESS;
}

/* Returns true if progress may be shown on the terminal, where it must not mix with other output. The output of
 * --stats, and of views that need the complete profile, is only written after reading. */
static bool may_show_work(const struct postproc_options *options)
{
	const bool is_stdout = !options->writing.output || !strcmp(options->writing.output, "-");

	return !options->reading.follow && !options->views.live && !options->dump && !options->expand_events &&
	       (!is_stdout || !isatty(STDOUT_FILENO) || view_options_want_all(&options->views) || options->stats);
}

static void postproc_main_release(struct postproc *postproc)
{
	buf_free(&postproc->unmatched);
	index_set_free(&postproc->include);
	index_set_free(&postproc->exclude);
	call_address_free(&postproc->options.call_address);
	free(postproc->options.reading.layout);
	free(postproc->options.reading.inputs);
	free(postproc->options.views.suppressions);
	postproc_filters_free(&postproc->options.filters);
	buf_free(&postproc->options.views.reading);
	suppressions_free(&postproc->suppressions);
	names_free(postproc->files);
}

/* Returns true if the file can probably be written. Does not open it. */
static bool may_be_written(const char *path)
{
	struct stat st;

	if (path_is_folder(path) || !stat(path, &st))
		return !access(path, W_OK);
	const char *const slash = strrchr(path, '/');
	char *const folder = slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup(".");
	const bool may = !access(folder, W_OK);

	free(folder);
	return may;
}

/* Carries out --check-options: checks the files that options name. functrace runs functrace-postproc with this option
 * before it starts the target, to find errors that would make the report fail afterwards. Returns the exit status. */
static int check_files(struct postproc *postproc)
{
	const struct view_options *views = &postproc->options.views;
	bool sound = true;

	/* Warnings are suppressed, because the report prints them later. */
	msg_set_quiet(true);
	for (size_t i = 0; i < views->suppression_count; i++)
		sound &= suppressions_read(&postproc->suppressions, views->suppressions[i]);
	if (views->html && strcmp(views->html, "-") != 0 && !may_be_written(views->html)) {
		msg_error("cannot write %s: %s. Choose another place with --html.", views->html, strerror(errno));
		sound = false;
	}
	if (views->old && access(views->old, R_OK)) {
		msg_error("cannot open %s: %s", views->old, strerror(errno));
		sound = false;
	}
	return sound ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int postproc_main_work(struct postproc *postproc)
{
	if (postproc->options.checks_only)
		return check_files(postproc);
	if (postproc->options.show_format)
		return postproc_show_format();
	if (may_show_work(&postproc->options))
		long_work_allow();
	if (!postproc_main_prepare(postproc)) {
		postproc->failed = true;
		return status_of(postproc);
	}
	postproc->files = names_new(&postproc->options.names);
	postproc->options.names.shares = postproc->files;
	read_traces(postproc);
	return status_of(postproc);
}

/* Called at exit: reports an error if argp's output (--help, --version) could not be written. Other output is checked
 * when it is written. */
static void check_stdout(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return;
	msg_error("cannot write standard output: %s", strerror(errno));
	_exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	struct postproc postproc = {0};

	standard_fds_reserve();
	/* To check its options, functrace runs this program with argv[0] "functrace". */
	msg_set_program(!strcmp(path_name(argv[0]), "functrace") ? "functrace" : "functrace-postproc");
	atexit(check_stdout);
	postproc_options_parse(argc, argv, &postproc.options);
	const int status = postproc_main_work(&postproc);

	postproc_main_release(&postproc);
	return status;
}
