#include "config.h"
#include "functrace/option_watch.h"
#include "base/time_units.h"
#include "fleet/metrics_listen.h"
#include "fleet/push.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUDGET_NORMAL   0.02
#define INTERVAL_NORMAL (60 * NS_PER_SECOND)
#define INTERVAL_LEAST  NS_PER_SECOND

enum watch_option {
	OPT_WATCH = 0x900,
	OPT_BUDGET,
	OPT_SERVICE,
	OPT_METRICS,
	OPT_PUSH,
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "Watch:", 0},
	{"watch", OPT_WATCH, NULL, 0,
	 "with -t: trace only in short windows, for as long as the process runs, and estimate what stays", 0},
	{"budget", OPT_BUDGET, "PERCENT", 0, "what --watch may cost, of one CPU (default 2%)", 0},
	{"service", OPT_SERVICE, "NAME", 0, "the name of the service in --watch's results (default: the program's)", 0},
	{"metrics", OPT_METRICS, "[ADDRESS:]PORT|FILE", 0,
	 "with --watch: show the latest results to Prometheus by HTTP (by default on loopback), or in a FILE (its name "
	 "has a '/') for node_exporter",
	 0},
	{"push", OPT_PUSH, "URL", 0,
	 "with --watch and -o: send a pprof profile of each interval to http[s]://..., pyroscope+http[s]://... or "
	 "parca+http[s]://...",
	 0},
	{0},
};

static int option_budget(struct parse *parse, const char *text)
{
	char *end;
	const double percent = strtod(text, &end);

	if (end != text && (!*end || !strcmp(end, "%")) && percent >= 0.1 && percent <= 100) {
		parse->settings->watch.budget = percent / 100;
		return 0;
	}
	return usage_error(parse, "--budget=%s: give a part of one CPU in percent, from 0.1%% to 100%%: 2%%", text);
}

static error_t option_watch_parse(int key, char *arg, struct argp_state *state)
{
	struct parse *const parse = state->input;
	struct watch_settings *const watch = &parse->settings->watch;

	given_option(&parse->given, options, key, arg);
	switch (key) {
	case OPT_WATCH:
		watch->is_wanted = true;
		return 0;
	case OPT_BUDGET:
		return option_budget(parse, arg);
	case OPT_SERVICE:
		if (!*arg)
			return usage_error(parse, "--service: an empty name; give the service's name, or leave it out");
		watch->service = arg;
		return 0;
	case OPT_METRICS:
		watch->metrics = arg;
		return 0;
	case OPT_PUSH:
		watch->push = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp option_watch_argp = {.options = options, .parser = option_watch_parse};

#define INTERVAL_OF_VIEW (10 * NS_PER_SECOND)

/* --interval is stored with the options of the report. */
static int take_interval(struct parse *parse)
{
	struct settings *const s = parse->settings;
	size_t kept = 0;

	s->watch.interval_ns = s->watch.has_view && !s->trace.output ? INTERVAL_OF_VIEW : INTERVAL_NORMAL;
	for (size_t i = 0; i < s->report.option_count; i++) {
		char *const option = s->report.options[i];

		if (strncmp(option, "--interval=", 11)) {
			s->report.options[kept++] = option;
			continue;
		}
		if (!parse_duration(option + 11, &s->watch.interval_ns) || s->watch.interval_ns < INTERVAL_LEAST)
			return usage_error(parse, "%s: give a time of 1 s or more: 60, 60s, 5m", option);
		free(option);
	}
	s->report.option_count = kept;
	return 0;
}

/* Checks the forms of --metrics and --push. What only an attempt can tell, such as a port in use, is found later. */
static int check_receivers(struct parse *parse)
{
	const struct watch_settings *const watch = &parse->settings->watch;
	char why[1024];

	/* With a '/', it is the name of a file. */
	if (watch->metrics && !strchr(watch->metrics, '/') && !metrics_listen_check(watch->metrics, why, sizeof(why)))
		return usage_error(parse, "--metrics: %s", why);
	if (watch->push && !parse->settings->trace.output)
		return usage_error(parse, "--push needs a folder for profiles that wait: give one with -o DIR");
	if (watch->push && !push_check(watch->push, why, sizeof(why)))
		return usage_error(parse, "--push: %s", why);
	return 0;
}

int option_watch_end(struct parse *parse)
{
	struct settings *const s = parse->settings;

	if (!s->watch.is_wanted)
		return 0;
	s->watch.has_view = !s->report.is_wanted && !s->quiet && isatty(STDOUT_FILENO);
	int error = take_interval(parse);

	if (!error)
		error = check_receivers(parse);
	if (error)
		return error;
	if (s->trace.output && !path_is_folder(s->trace.output))
		return usage_error(parse, "-o %s: --watch needs a folder; make it first (mkdir -p %s)", s->trace.output,
				   s->trace.output);
	if (!s->watch.budget)
		s->watch.budget = BUDGET_NORMAL;
	s->target.start_paused = true;
	s->target.follow = false;
	s->baseline = false;
	return 0;
}
