#include "config.h"
#include "report/stats.h"
#include "report/stats_report.h"
#include "analysis/stream.h"
#include "report/terminal_lines.h"

#include <stdlib.h>

struct stats {
	struct stage stage;
	struct stats_options options;
	struct account account;
};

static int stats_put(struct stage *stage, const struct record *record)
{
	struct stats *stats = (struct stats *)stage;

	output_feed_names(stats->options.names, &stats->account.objects, record);
	account_put(&stats->account, record);
	return 0;
}

static int write_stats(void *context, FILE *out)
{
	struct stats *stats = context;

	stats_report(&stats->account, stats->options.names, lines_columns(out), out);
	return 0;
}

static int stats_finish(struct stage *stage)
{
	struct stats *stats = (struct stats *)stage;

	if (!stats->account.has_process)
		return 0;
	return stream_to_target(&stats->options.target, stats->account.pid, ".stats.txt", write_stats, stats);
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
		.stage = {.put = stats_put, .finish = stats_finish, .free = stats_free},
		.options = *options,
	};
	return &stats->stage;
}
