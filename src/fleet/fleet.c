#include "config.h"
#include "fleet/fleet.h"
#include "fleet/metrics.h"
#include "fleet/push.h"
#include "fleet/rows.h"
#include "fleet/view_rows_pipe.h"
#include "fleet/watch_text.h"
#include "engine/settings.h"
#include "base/msg.h"
#include "base/own_file.h"
#include "base/util.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_TOP   20 /* number of stacks in the text */
#define ROWS_BYTES (UINT64_C(64) << 20)

struct fleet {
	pthread_mutex_t lock; /* held while an interval is delivered */
	const char *folder;   /* NULL: no files are written */
	bool has_failed;      /* a text could not be written, and this was said */
	struct rows_file *rows;
	struct rows_file *report_rows; /* for --report and --html, if these rows are not in `folder` */
	struct rows_pipe *view;
	struct metrics *metrics;
	struct push *push;
};

static void fleet_close(void *outputs)
{
	struct fleet *const fleet = outputs;

	if (fleet->metrics)
		metrics_close(fleet->metrics);
	if (fleet->push)
		push_close(fleet->push);
	rows_file_close(fleet->rows);
	rows_file_close(fleet->report_rows);
	rows_pipe_free(fleet->view);
	pthread_mutex_destroy(&fleet->lock);
	free(fleet);
}

/* Opens what the visible process reads: the view, and the report at the end. */
static bool open_visible(struct fleet *fleet, const struct settings *set)
{
	const char *const folder = set->report.folder;

	if (set->watch.has_view)
		fleet->view = rows_pipe_new(set->trace.output_fd);
	if (!folder || (fleet->folder && !strcmp(folder, fleet->folder)))
		return true;
	fleet->report_rows = rows_file_open(folder, ROWS_BYTES);
	return fleet->report_rows;
}

static bool fleet_open_all(struct fleet *fleet, const struct watch_settings *set)
{
	char why[1024];

	if (fleet->folder && !(fleet->rows = rows_file_open(fleet->folder, ROWS_BYTES)))
		return false;
	if (set->metrics && !(fleet->metrics = metrics_open(set->metrics, why, sizeof(why)))) {
		msg_error("--metrics=%s: %s", set->metrics, why);
		return false;
	}
	if (!set->push)
		return true;
	char *const spool = xasprintf("%s/spool", fleet->folder);

	fleet->push = push_open(set->push, spool, why, sizeof(why));
	free(spool);
	if (!fleet->push)
		msg_error("--push: %s", why); /* without the URL, which may have a password */
	return fleet->push;
}

static void *fleet_open(const void *settings)
{
	const struct settings *const set = settings;
	struct fleet *const fleet = xcalloc(1, sizeof(*fleet));

	pthread_mutex_init(&fleet->lock, NULL);
	fleet->folder = set->trace.output;
	if (open_visible(fleet, set) && fleet_open_all(fleet, &set->watch))
		return fleet;
	fleet_close(fleet);
	return NULL;
}

/* Replaces a file at once, so that its readers see the old text or the new one. Returns 0 or -errno. */
static int replace_file(const char *path, const struct buf *text)
{
	char *const temporary = xasprintf("%s.new", path);
	const int fd = own_file_open(temporary);
	FILE *const out = fd < 0 ? NULL : fdopen(fd, "w");
	int error = fd < 0 ? fd : 0;

	if (out) {
		buf_write(text, out);
		error = fflush(out) || ferror(out) ? -errno : 0;
		if (fclose(out) && !error)
			error = -errno;
	}
	if (!error && rename(temporary, path) < 0)
		error = -errno;
	if (error)
		unlink(temporary);
	free(temporary);
	return error;
}

static void write_text(struct fleet *fleet, const struct watch_interval *interval)
{
	char *const path = xasprintf("%s/%d.txt", fleet->folder, interval->pid);
	struct buf text = {0};

	watch_text_add(&text, interval, TEXT_TOP);
	const int error = replace_file(path, &text);

	if (error && !fleet->has_failed)
		msg_warn("%s cannot be written: %s. Later results will be tried again.", path, strerror(-error));
	fleet->has_failed = error;
	buf_free(&text);
	free(path);
}

static void deliver_to_all(struct fleet *fleet, const struct watch_interval *interval)
{
	struct buf line = {0};

	watch_text_add_line(&line, interval);
	if (!fleet->view) /* else all these lines would follow the view at its end */
		msg_info("%s", buf_str(&line));
	buf_free(&line);
	if (fleet->folder) {
		write_text(fleet, interval);
		rows_file_append(fleet->rows, interval);
	}
	if (fleet->report_rows)
		rows_file_append(fleet->report_rows, interval);
	if (fleet->view)
		rows_pipe_send(fleet->view, interval);
	if (fleet->push)
		push_interval(fleet->push, interval);
	if (!fleet->metrics)
		return;
	metrics_set(fleet->metrics, interval);
	if (interval->is_last)
		metrics_forget(fleet->metrics, interval->pid);
}

/* The watches of several processes deliver at the same time, each by a thread of its own. */
static void fleet_deliver(void *outputs, const struct watch_interval *interval)
{
	struct fleet *const fleet = outputs;

	pthread_mutex_lock(&fleet->lock);
	deliver_to_all(fleet, interval);
	pthread_mutex_unlock(&fleet->lock);
}

const struct watch_outputs fleet_outputs = {.open = fleet_open, .deliver = fleet_deliver, .close = fleet_close};
