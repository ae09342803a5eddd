/* Carries out what the keys of the live view ask for: a scan, a report, a page. */
#include "config.h"
#include "live/view_rows.h"
#include "modules/known.h"
#include "report/html/page.h"
#include "report/report.h"
#include "profile/profile_stage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool has_memory(const struct view *view)
{
	for (size_t i = 0; i < view->kind_count; i++)
		if (is_heap_type(view->kinds[i]))
			return true;
	return false;
}

const char *view_ask_for_scan(struct view *view)
{
	const char *reason;

	if (view->has_intervals)
		return "the watch itself looks for lost blocks, once in an interval";
	if (!view->options->tracer)
		return "lost blocks are found only in a running process: functrace --live -t PID";
	if (!has_memory(view))
		return "lost blocks are found only where memory is traced: -e memory";
	if (view_has_ended(view, &reason) || kill(view->options->tracer, LIVE_SCAN_SIGNAL))
		return "the trace has ended";
	return NULL;
}

/* Opens functrace-live-N.txt or .html with the first number for which there is no file. The caller frees *name, also
 * after an error. */
static int open_new_file(enum view_file which, char **name)
{
	for (unsigned n = 1;; n++) {
		*name = xasprintf("functrace-live-%u.%s", n, which == VIEW_PAGE ? "html" : "txt");
		const int fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

		if (fd >= 0 || errno != EEXIST)
			return fd;
		free(*name);
	}
}

static void write_profile(const struct profile *profile, enum view_file which, const char *sysroot, FILE *out)
{
	if (which == VIEW_PAGE)
		page_write(profile, &(struct page_options){.sysroot = sysroot}, out);
	else
		report_write(profile, &(struct report_options){.sysroot = sysroot}, out);
}

char *view_write(struct view *view, enum view_file which)
{
	char *name;
	const int fd = open_new_file(which, &name);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	struct profile *profile;
	bool failed;

	if (!out) {
		free(name);
		return NULL;
	}
	pthread_mutex_lock(&view->lock);
	profile = profile_new();
	for (size_t i = 0; i < view->process_count; i++) {
		account_end(&view->processes[i]->account);
		profile_add_account(profile, &view->processes[i]->account, view->processes[i]->names);
	}
	profile_end(profile);
	write_profile(profile, which, view->options->sysroot, out);
	profile_give_back(profile);
	profile_free(profile);
	for (size_t i = 0; i < view->process_count; i++)
		resolver_forget(&view->processes[i]->resolver);
	pthread_mutex_unlock(&view->lock);
	failed = ferror(out);
	if (!fclose(out) && !failed)
		return name;
	free(name);
	return NULL;
}
