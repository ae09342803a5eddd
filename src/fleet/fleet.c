#include "config.h"
#include "fleet/fleet.h"
#include "fleet/watch_text.h"
#include "engine/settings.h"
#include "base/msg.h"
#include "base/own_file.h"
#include "base/util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_TOP 20 /* number of stacks in the text */

struct fleet {
	const struct settings *settings;
	const char *folder; /* NULL: no files are written */
	bool has_failed;    /* a file could not be written, and this was said */
};

static void *fleet_open(const void *settings)
{
	struct fleet *const fleet = xcalloc(1, sizeof(*fleet));

	fleet->settings = settings;
	fleet->folder = fleet->settings->trace.output;
	return fleet;
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
		msg_error("%s cannot be written: %s. Later results will be tried again.", path, strerror(-error));
	fleet->has_failed = error;
	buf_free(&text);
	free(path);
}

static void fleet_deliver(void *outputs, const struct watch_interval *interval)
{
	struct fleet *const fleet = outputs;
	struct buf line = {0};

	watch_text_add_line(&line, interval);
	msg_info("%s", buf_str(&line));
	buf_free(&line);
	if (fleet->folder)
		write_text(fleet, interval);
}

static void fleet_close(void *outputs)
{
	free(outputs);
}

const struct watch_outputs fleet_outputs = {.open = fleet_open, .deliver = fleet_deliver, .close = fleet_close};
