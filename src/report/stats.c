#include "config.h"
#include "report/stats.h"
#include "report/stats_report.h"
#include "base/msg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_DEFAULT = 80, COLUMNS_MIN = 40 };

struct stats {
	struct stage stage;
	struct stats_options options;
	struct account account;
};

static int put(struct stage *stage, const struct record *record)
{
	struct stats *stats = (struct stats *)stage;

	output_feed_names(stats->options.names, &stats->account.objects, record);
	account_put(&stats->account, record);
	return 0;
}

/* Only a terminal has a width. */
static size_t columns_of(int fd)
{
	struct winsize size;

	if (!isatty(fd))
		return 0;
	if (ioctl(fd, TIOCGWINSZ, &size) || !size.ws_col)
		return COLUMNS_DEFAULT;
	return size.ws_col < COLUMNS_MIN ? COLUMNS_MIN : size.ws_col;
}

static int finish(struct stage *stage)
{
	struct stats *stats = (struct stats *)stage;
	struct buf report = {0};
	char *name;

	if (!stats->account.has_process)
		return 0;
	const int fd = output_target_open(&stats->options.target, stats->account.pid, ".stats.txt", &name);
	int error = fd < 0 ? fd : 0;

	if (!error) {
		stats_report(&stats->account, &report, columns_of(fd), stats->options.names);
		error = write_all(fd, report.data, report.size, NULL);
		if (close(fd) && !error)
			error = -errno;
		if (error)
			msg_error("cannot write %s: %s; what is there is not complete. Give another place with -o.",
				  name, strerror(-error));
	}
	buf_free(&report);
	free(name);
	return error;
}

static void stats_free(struct stage *stage)
{
	account_free(&((struct stats *)stage)->account);
	free(stage);
}

struct stage *stats_new(const struct stats_options *options)
{
	struct stats *stats = xmalloc(sizeof(*stats));

	*stats = (struct stats){
		.stage = {.put = put, .finish = finish, .free = stats_free},
		.options = *options,
	};
	return &stats->stage;
}
