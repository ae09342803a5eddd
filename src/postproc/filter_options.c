#include "config.h"
#include "postproc/filter_options.h"
#include "base/shell_quote.h"
#include "cli/conflicts.h"
#include "cli/report_options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum filter_option {
	OPT_FUNCTION = 0x1000,
	OPT_NOT_FUNCTION,
	OPT_OBJECT,
	OPT_SIZE,
	OPT_THREAD,
	OPT_TIME,
	ALIVE_OPTIONS(OPTION_KEY),
	OPT_MIN_COUNT,
};

static const struct argp_option option_table[] = {
	{NULL, 0, NULL, 0, "Filters for allocations and their releases, for all output:", 0},
	{"function", OPT_FUNCTION, "PATTERN", 0,
	 "allocations whose stacks have a function of this name (*, ? and [a-z] as in a shell); may be repeated", 0},
	{"not-function", OPT_NOT_FUNCTION, "PATTERN", 0, "allocations whose stacks have no function of this name", 0},
	{"object", OPT_OBJECT, "PATTERN", 0,
	 "allocations whose stacks go through this object, by its path or file name", 0},
	{"size", OPT_SIZE, "MIN-MAX", 0,
	 "allocations of MIN to MAX bytes; MIN or MAX may be left out; units: k, M, G (of 1024)", 0},
	{"thread", OPT_THREAD, "ID,...", 0, "allocations of these threads, by their numbers", 0},
	{"time", OPT_TIME, "A-B", 0,
	 "allocations made from second A to second B of the trace; A or B may be left out (in a trace without times, "
	 "A and B are numbers of calls)",
	 0},
	ALIVE_OPTIONS(OPTION_OF_POSTPROC),
	{"min-count", OPT_MIN_COUNT, "N", 0, "with -l and --report: only stacks with N allocations or more", 0},
	{0},
};

bool postproc_parse_seconds(const char *text, uint64_t *ns, char **end)
{
	const double seconds = strtod(text, end);

	if (*end == text || !isfinite(seconds) || seconds < 0 || seconds > 1e9)
		return false;
	*ns = (uint64_t)(seconds * 1e9 + 0.5);
	return true;
}

/* A function that parses a bound of a range and sets *text to the address after it. Returns false if there is no
 * bound. */
typedef bool (*bound_reader)(const char **text, uint64_t *value);

static bool read_seconds(const char **text, uint64_t *value)
{
	char *end;
	const bool good = isdigit((unsigned char)**text) && postproc_parse_seconds(*text, value, &end);

	if (good)
		*text = end;
	return good;
}

static bool read_size(const char **text, uint64_t *value)
{
	static const char suffixes[] = "kmg";
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	*value = strtoull(*text, &end, 10);
	if (errno)
		return false;
	const char *const suffix = *end ? strchr(suffixes, tolower((unsigned char)*end)) : NULL;

	for (const char *unit = suffixes; suffix && unit <= suffix; unit++)
		*value = mul_saturated(*value, 1024);
	*text = end + (suffix != NULL);
	return true;
}

/* Parses "MIN-MAX", "MIN-" or "-MAX". *min or *max is unchanged if the bound is missing. */
static bool read_range(const char *text, bound_reader read, uint64_t *min, uint64_t *max)
{
	const bool has_min = *text != '-';

	if ((has_min && !read(&text, min)) || *text++ != '-' || (!*text && !has_min))
		return false;
	return !*text || (read(&text, max) && !*text && *min <= *max);
}

static void set_size(struct argp_state *state, struct filter_options *filter, const char *text)
{
	const char *one = text;

	filter->size = text;
	filter->size_min = 0;
	filter->size_max = UINT64_MAX;
	/* A single number means exactly this size. */
	if (read_size(&one, &filter->size_min) && !*one)
		filter->size_max = filter->size_min;
	else if (filter->size_min = 0, !read_range(text, read_size, &filter->size_min, &filter->size_max))
		argp_error(state, "--size needs a range of bytes like 100-4k, 1M- or -64, not '%s'", text);
}

static void set_time(struct argp_state *state, struct filter_options *filter, const char *text)
{
	filter->time = text;
	filter->from = 0;
	filter->to = UINT64_MAX;
	if (!read_range(text, read_seconds, &filter->from, &filter->to))
		argp_error(state, "--time needs a time span of the trace in seconds like 2-3.5, 10- or -0.5, not '%s'",
			   text);
}

static void set_between(struct argp_state *state, struct filter_options *filter, const char *text)
{
	char *end;

	filter->between = text;
	if (!postproc_parse_seconds(text, &filter->between_from, &end) || *end != ',' ||
	    !postproc_parse_seconds(end + 1, &filter->between_to, &end) || *end ||
	    filter->between_to <= filter->between_from)
		argp_error(state, "--between needs two times in seconds, the earlier one first: 2,3.5, not '%s'", text);
}

static void set_older(struct argp_state *state, struct filter_options *filter, const char *text)
{
	char *end;

	filter->older = text;
	if (!postproc_parse_seconds(text, &filter->age, &end) || *end)
		argp_error(state, "--older needs seconds, like 2.5, not '%s'", text);
}

static void set_threads(struct argp_state *state, struct postproc_filters *filters, const char *text)
{
	struct filter_options *filter = &filters->filter;
	uint64_t number;

	filter->thread = text;
	filter->thread_count = 0;
	for (const char *p = text;; p++) {
		const size_t length = strcspn(p, ",");
		char *const word = xstrndup(p, length);

		if (!parse_number(word, UINT32_MAX, &number) || !number)
			argp_error(state, "--thread needs numbers of threads, like 4711,4712, not '%s'", text);
		free(word);
		ARRAY_GROW(filters->threads, filters->thread_capacity, filter->thread_count);
		filters->threads[filter->thread_count++] = (uint32_t)number;
		p += length;
		if (!*p)
			break;
	}
	filter->threads = filters->threads;
}

static void filter_options_add_pattern(struct argp_state *state, struct postproc_filters *filters,
				       enum stack_pattern_kind kind, const char *text)
{
	if (!*text)
		argp_error(state, "--function, --not-function and --object need a name, or a pattern of one");
	ARRAY_GROW(filters->patterns, filters->pattern_capacity, filters->stacks.pattern_count);
	filters->patterns[filters->stacks.pattern_count++] = (struct stack_pattern){kind, text};
	filters->stacks.patterns = filters->patterns;
}

/* Parses an option. Returns false if it is not a filter. */
static bool parse_filter(int key, char *arg, struct argp_state *state)
{
	struct postproc_filters *filters = state->input;
	uint64_t number;

	switch (key) {
	case OPT_FUNCTION:
		filter_options_add_pattern(state, filters, STACK_FUNCTION, arg);
		return true;
	case OPT_NOT_FUNCTION:
		filter_options_add_pattern(state, filters, STACK_NOT_FUNCTION, arg);
		return true;
	case OPT_OBJECT:
		filter_options_add_pattern(state, filters, STACK_OBJECT, arg);
		return true;
	case OPT_SIZE:
		set_size(state, &filters->filter, arg);
		return true;
	case OPT_THREAD:
		set_threads(state, filters, arg);
		return true;
	case OPT_TIME:
		set_time(state, &filters->filter, arg);
		return true;
	case OPT_BETWEEN:
		set_between(state, &filters->filter, arg);
		return true;
	case OPT_OLDER:
		set_older(state, &filters->filter, arg);
		return true;
	case OPT_MIN_COUNT:
		if (!parse_number(arg, UINT32_MAX, &number) || !number)
			argp_error(state, "--min-count needs a number from 1 on, not '%s'", arg);
		filters->min_count = (uint32_t)number;
		return true;
	default:
		return false;
	}
}

static error_t filter_options_parse(int key, char *arg, struct argp_state *state)
{
	struct postproc_filters *filters = state->input;

	given_option(filters->given, option_table, key, arg);
	if (!parse_filter(key, arg, state))
		return ARGP_ERR_UNKNOWN;
	if (key != OPT_MIN_COUNT) {
		option_words_add(&filters->words, option_table, key, arg);
		filters->chooses_calls = true;
	}
	return 0;
}

void option_words_add(struct buf *words, const struct argp_option *table, int key, const char *value)
{
	char *const name = option_name(table, key);

	buf_printf(words, "%s%s", words->size ? " " : "", name);
	if (value) {
		buf_add_str(words, key < 0x80 ? " " : "=");
		shell_quote_add(words, value);
	}
	free(name);
}

const struct argp postproc_filter_argp = {.options = option_table, .parser = filter_options_parse};

void postproc_filters_free(struct postproc_filters *filters)
{
	free(filters->threads);
	free(filters->patterns);
	buf_free(&filters->words);
}
