/* Shows intervals to monitoring systems: see metrics.h. */
#include "config.h"
#include "fleet/metrics.h"
#include "fleet/metrics_file.h"
#include "fleet/metrics_http.h"
#include "fleet/metrics_listen.h"
#include "fleet/metrics_text.h"
#include "base/msg.h"

#include <errno.h>
#include <stdlib.h>

struct metrics {
	struct metrics_text *text;
	struct metrics_http *http; /* NULL: a file is written */
	struct metrics_file file;
	char *path;
	bool is_failing; /* the last write failed */
	bool has_said_taken, has_said_omitted;
	uint64_t failures; /* number of writes that failed */
};

static int metrics_write(struct metrics *m)
{
	struct buf text = {0};

	metrics_text_write(m->text, METRICS_PROMETHEUS, &text);
	const int error = metrics_file_write(&m->file, text.data, text.size);

	buf_free(&text);
	return error;
}

/* What to do after an error of metrics_file_write(). */
static const char *metrics_file_advice(int error)
{
	switch (error) {
	case -EEXIST:
		return "it is not a regular file: give the name of a new file";
	case -ENOENT:
	case -ENOTDIR:
		return "its folder does not exist: make it, or name a file in another folder";
	case -EACCES:
	case -EPERM:
	case -EROFS:
		return "functrace may not write to its folder: change its rights, or name a file in another folder";
	case -ENOSPC:
	case -EDQUOT:
		return "the disk is full: make room, or name a file on another disk";
	default:
		return "name a file in another folder";
	}
}

static bool metrics_begin_file(struct metrics *m, char *why, size_t size)
{
	const int error = metrics_write(m);

	if (error) {
		snprintf(why, size, "%s cannot be written (%s); %s", m->path, strerror(-error),
			 metrics_file_advice(error));
		return false;
	}
	const size_t length = strlen(m->path);

	if (length < 5 || strcmp(m->path + length - 5, ".prom"))
		msg_warn("node_exporter reads only files whose names end in .prom, so it will not read %s", m->path);
	return true;
}

static bool metrics_begin_server(struct metrics *m, const char *where, char *why, size_t size)
{
	char url[METRICS_URL_SIZE];

	if (!metrics_http_is_possible(why, size))
		return false;
	const int listener = metrics_listen(where, url, why, size);

	m->http = listener < 0 ? NULL : metrics_http_open(m->text, listener, why, size);
	if (m->http)
		msg_info("the metrics are at %s", url);
	return m->http;
}

struct metrics *metrics_open(const char *where, char *why, size_t size)
{
	struct metrics *const m = xcalloc(1, sizeof(*m));

	m->text = metrics_text_new(METRICS_STACKS);
	m->path = xstrdup(where);
	m->file.path = m->path;
	if (strchr(where, '/') ? metrics_begin_file(m, why, size) : metrics_begin_server(m, where, why, size))
		return m;
	metrics_text_free(m->text);
	free(m->path);
	free(m);
	return NULL;
}

/* Writes the file, if there is one, and says what the user should know. */
static void metrics_renew(struct metrics *m)
{
	if (m->http)
		return;
	if (!m->has_said_taken && metrics_file_is_taken(&m->file)) {
		m->has_said_taken = true;
		msg_warn("another program writes %s, too; give each functrace a file of its own", m->path);
	}
	const int error = metrics_write(m);

	if (error && !m->is_failing)
		msg_warn("the metrics could not be written to %s (%s); %s. functrace tries again after each interval.",
			 m->path, strerror(-error), metrics_file_advice(error));
	m->is_failing = error;
	m->failures += error != 0;
}

void metrics_set(struct metrics *m, const struct watch_interval *interval)
{
	if (!metrics_text_set(m->text, interval) && !m->has_said_omitted) {
		m->has_said_omitted = true;
		msg_warn(
			"there are metrics of %d processes; those of process %d and others are omitted, and counted in "
			"functrace_intervals_omitted_total",
			METRICS_PROCESSES_MAX, (int)interval->pid);
	}
	metrics_renew(m);
}

void metrics_forget(struct metrics *m, pid_t pid)
{
	metrics_text_forget(m->text, pid);
	metrics_renew(m);
}

void metrics_close(struct metrics *m)
{
	if (m->http)
		metrics_http_close(m->http);
	else
		metrics_file_remove(&m->file);
	if (m->failures)
		msg_warn("the metrics could not be written to %s %llu times", m->path, (unsigned long long)m->failures);
	metrics_text_free(m->text);
	free(m->path);
	free(m);
}
