#include "config.h"
#include "option_report.h"

#include <stdlib.h>
#include <string.h>

void option_report(struct parse *parse, const char *name, const char *arg)
{
	struct report_wish *wish = &parse->settings->report;

	wish->is_wanted |= !strcmp(name, "report");
	ARRAY_GROW(wish->options, parse->report_capacity, wish->option_count);
	wish->options[wish->option_count++] = arg ? xasprintf("--%s=%s", name, arg) : xasprintf("--%s", name);
}

int option_report_check(struct parse *parse)
{
	const struct settings *s = parse->settings;

	if (s->report.option_count && !s->report.is_wanted)
		return usage_error(parse, "%s is about the report; add --report", s->report.options[0]);
	if (s->report.is_wanted && (s->output_fd >= 0 || (s->output && !strcmp(s->output, "-"))))
		return usage_error(parse, "--report reads the traces when they are whole; give -o a folder or a file, "
					  "or leave it out");
	return 0;
}

void option_report_free(struct settings *settings)
{
	for (size_t i = 0; i < settings->report.option_count; i++)
		free(settings->report.options[i]);
	free(settings->report.options);
	free(settings->report.list);
	free(settings->report.folder);
}
