#include "config.h"
#include "functrace/run_report.h"
#include "functrace/postproc_process.h"
#include "base/msg.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Maximum size of a list of traces, in bytes. A longer list contains more paths than a command line can have. */
enum { LIST_MAX = 1 << 20 };

/* Returns the arguments for functrace-postproc: its name, with which its messages begin, and its options. The array has
 * room for `more` arguments and a NULL; *count is the number of arguments so far. The caller frees the array. */
static char **words_for(const struct settings *settings, const char *name, size_t more, size_t *count)
{
	const struct report_settings *report = &settings->report;
	char **argv = xcalloc(report->option_count + more + 4, sizeof(*argv));

	*count = 0;
	argv[(*count)++] = (char *)(uintptr_t)name;
	if (settings->quiet)
		argv[(*count)++] = (char *)(uintptr_t) "-q";
	if (settings->watch.is_wanted)
		argv[(*count)++] = (char *)(uintptr_t) "--input-format=rows";
	for (size_t i = 0; i < report->option_count; i++)
		argv[(*count)++] = report->options[i];
	return argv;
}

/* Runs functrace-postproc --check-options with the name "functrace", so that its messages about the report's options
 * begin with this name, because the user has given these options to functrace. */
int report_run_check(const struct settings *settings)
{
	size_t count;
	char **argv = words_for(settings, "functrace", 1, &count);

	argv[count] = (char *)(uintptr_t) "--check-options";
	const int status = postproc_wait(postproc_start(argv, -1, -1));

	free(argv);
	if (status == POSTPROC_NOT_FOUND)
		return EXIT_FAILURE;
	return status ? status : -1;
}

/* The paths in the list file, each with a NUL after it. */
struct trace_list {
	char *text;
	size_t size;
};

static struct trace_list trace_list_read(const struct report_settings *report)
{
	struct trace_list list = {0};

	if (report->list)
		list.text = read_file(report->list, LIST_MAX, &list.size);
	return list;
}

/* Returns the path that follows `path` in the list, or NULL after the last one. For NULL returns the first path. */
static char *trace_list_next(const struct trace_list *list, char *path)
{
	char *const next = path ? path + strlen(path) + 1 : list->text;

	return next && next < list->text + list->size ? next : NULL;
}

static size_t trace_list_count(const struct trace_list *list)
{
	size_t count = 0;

	for (char *path = NULL; (path = trace_list_next(list, path));)
		count++;
	return count;
}

/* Makes the report for the traces in the list. out: descriptor to which the report is written; -1: standard output.
 * Returns the exit status of functrace-postproc, or -1 if the list is empty. */
static int run_postproc(const struct settings *settings, const struct trace_list *list, int out)
{
	size_t count;
	int status = -1;
	char **argv = words_for(settings, POSTPROC_NAME, trace_list_count(list) + 2, &count);

	/* The traces are deleted after the report. Therefore the commands that the report suggests run functrace again,
	 * instead of functrace-postproc with the names of the traces. */
	char *const again = settings->trace.output == settings->report.folder
				    ? xasprintf("--again=%s", settings->report.again)
				    : NULL;

	if (again)
		argv[count++] = again;
	argv[count++] = (char *)(uintptr_t) "--";
	const size_t first = count;

	for (char *path = NULL; (path = trace_list_next(list, path));)
		argv[count++] = path;
	if (count > first)
		status = postproc_wait(postproc_start(argv, -1, out));
	free(again);
	free(argv);
	return status;
}

/* The function settings->conclude: the visible process calls it when all tracing has ended. Returns the value of
 * --error-exitcode if leaks were found, 0 if not. If the report fails or the traces are not complete (`sound` is
 * false), returns a negative number: then functrace exits with the program's status or, if that is 0, with the value of
 * --error-exitcode or 1. So a failed check does not look like a check that found nothing. */
static int print_report(const struct settings *settings, int out, bool sound)
{
	const int found = settings->report.error_exitcode, failed = found ? -found : -EXIT_FAILURE;
	const struct trace_list list = trace_list_read(&settings->report);
	int status = -1;

	if (list.text) {
		status = run_postproc(settings, &list, out);
		free(list.text);
	} else if (errno == EFBIG) {
		msg_error("there are too many traces for one report; they are kept, and %s lists them",
			  settings->report.list);
		return failed;
	}
	report_run_end(settings);
	if (found && status == found)
		return found;
	return status || !sound ? failed : 0;
}

static bool make_folder(struct settings *settings)
{
	const char *parent = getenv("TMPDIR");
	char *folder = xasprintf("%s/functrace-XXXXXX", parent && *parent ? parent : "/tmp");

	if (!mkdtemp(folder)) {
		msg_error("a folder for the traces, %s, cannot be made: %s. Set TMPDIR to another place.", folder,
			  strerror(errno));
		free(folder);
		return false;
	}
	settings->report.folder = folder;
	settings->report.list = xasprintf("%s/list", folder);
	if (!settings->trace.output)
		settings->trace.output = folder;
	return true;
}

int report_run_begin(struct settings *settings)
{
	const int status = report_run_check(settings);

	if (status >= 0)
		return status;
	if (!make_folder(settings))
		return EXIT_FAILURE;
	settings->conclude = print_report;
	return -1;
}

void report_run_end(const struct settings *settings)
{
	const struct report_settings *report = &settings->report;

	if (!report->folder)
		return;
	const struct trace_list list = trace_list_read(report);

	/* Keeps the folder if the list is too long: print_report() has named the list in its message. */
	if (!list.text && errno == EFBIG)
		return;
	free(list.text);
	DIR *const folder = opendir(report->folder);

	/* These are functrace's own files: the list, traces, and the files of --copy-file beside them. */
	for (const struct dirent *entry; folder && (entry = readdir(folder));)
		unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
	rmdir(report->folder);
}
