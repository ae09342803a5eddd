/* Parses a line of rows. Databases write the same values in other forms: whole numbers as texts, times with a blank
 * instead of the T, and columns in another order; these are accepted. */
#include "config.h"
#include "trace/rows/rows_read.h"
#include "base/time_units.h"
#include "base/util.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct rows_problem {
	char *error;
	size_t size;
	bool is_damaged;
};

static void rows_complain(struct rows_problem *problem, const char *column, const char *what)
{
	if (!problem->is_damaged)
		snprintf(problem->error, problem->size, "the column %s %s", column, what);
	problem->is_damaged = true;
}

static json_t *rows_column(const struct rows_line *line, const char *column)
{
	json_t *const value = json_object_get(line->json, column);

	return value && !json_is_null(value) ? value : NULL;
}

static const char *rows_text(const struct rows_line *line, const char *column, struct rows_problem *problem)
{
	const json_t *const value = rows_column(line, column);

	if (value && !json_is_string(value))
		rows_complain(problem, column, "is no text");
	return value ? json_string_value(value) : NULL;
}

static double rows_figure(const struct rows_line *line, const char *column, struct rows_problem *problem)
{
	const json_t *const value = rows_column(line, column);
	const char *const text = json_string_value(value);
	char *end = NULL;
	double number = NAN;

	if (!value)
		return NAN;
	if (json_is_number(value))
		number = json_number_value(value);
	else if (text && *text)
		number = strtod(text, &end);
	if ((!json_is_number(value) && !end) || (end && *end))
		rows_complain(problem, column, "is no number");
	return isfinite(number) ? number : NAN;
}

/* Returns a figure that cannot be negative. */
static double rows_amount(const struct rows_line *line, const char *column, struct rows_problem *problem)
{
	const double number = rows_figure(line, column, problem);

	if (number < 0)
		rows_complain(problem, column, "is negative");
	return number;
}

/* Returns the nanoseconds in a fraction of a second: ".25" and "." are valid. */
static uint64_t rows_fraction(const char *text, const char **end)
{
	uint64_t ns = 0, unit = NS_PER_SECOND;

	for (; *text >= '0' && *text <= '9'; text++) {
		unit /= 10;
		ns += unit * (uint64_t)(*text - '0');
	}
	*end = text;
	return ns;
}

/* Parses "2026-02-28T09:05:00.250000000Z", also with a blank instead of the T, and without fraction or Z. */
static uint64_t rows_time(const struct rows_line *line, const char *column, struct rows_problem *problem)
{
	const char *const text = rows_text(line, column, problem);
	const char *end = text ? strptime(text, "%Y-%m-%d", &(struct tm){0}) : NULL;
	uint64_t ns = 0;
	struct tm tm = {0};

	if (!text)
		return 0;
	end = end && (*end == 'T' || *end == ' ') ? strptime(text, *end == 'T' ? "%Y-%m-%dT%T" : "%Y-%m-%d %T", &tm)
						  : NULL;
	if (end && *end == '.')
		ns = rows_fraction(end + 1, &end);
	if (end && *end == 'Z')
		end++;
	const time_t seconds = end && !*end ? timegm(&tm) : -1;

	if (seconds < 0 || (uint64_t)seconds >= UINT64_MAX / NS_PER_SECOND) {
		rows_complain(problem, column, "is no time of the form 2026-02-28T09:05:00.25Z");
		return 0;
	}
	return (uint64_t)seconds * NS_PER_SECOND + ns;
}

static uint64_t rows_pid(const struct rows_line *line, struct rows_problem *problem)
{
	const double pid = rows_amount(line, "pid", problem);

	if (!(pid > 0))
		return 0;
	if (pid <= UINT32_MAX && pid == (double)(uint32_t)pid)
		return (uint64_t)pid;
	rows_complain(problem, "pid", "is no process's number");
	return 0;
}

static void rows_take_figures(struct rows_line *line, struct rows_problem *problem)
{
	static const struct {
		const char *column;
		size_t offset;
		bool may_be_negative;
	} figures[] = {
#define FIGURE(name) {#name, offsetof(struct rows_line, name), false}
#define CHANGING(name)                                                                                                 \
	{                                                                                                              \
#name, offsetof(struct rows_line, name), true                                                          \
	}
		FIGURE(allocated_rate), FIGURE(call_rate),   FIGURE(live),         FIGURE(live_low),
		FIGURE(live_high),      FIGURE(blocks),      CHANGING(growth),     CHANGING(growth_low),
		CHANGING(growth_high),  FIGURE(lost),        FIGURE(windows),      FIGURE(looks),
		FIGURE(share),          FIGURE(heap_blocks), FIGURE(unattributed), FIGURE(calls_seen),
		FIGURE(calls_unseen),   FIGURE(cost_budget), FIGURE(cost_target),  FIGURE(cost_own),
		FIGURE(cost_pause),
#undef FIGURE
#undef CHANGING
	};

	for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
		*(double *)(void *)((char *)line + figures[i].offset) =
			figures[i].may_be_negative ? rows_figure(line, figures[i].column, problem)
						   : rows_amount(line, figures[i].column, problem);
}

bool rows_line_parse(struct rows_line *line, const char *text, size_t length, char *error, size_t size)
{
	struct rows_problem problem = {.error = error, .size = size};
	json_error_t why;

	*line = (struct rows_line){.json = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why)};
	if (!line->json) {
		snprintf(error, size, "it is no JSON: %s", why.text);
		return false;
	}
	if (!json_is_object(line->json)) {
		snprintf(error, size, "it is no object of JSON");
		rows_line_free(line);
		return false;
	}
	const char *const scope = rows_text(line, "scope", &problem);

	line->is_interval = scope && !strcmp(scope, "interval");
	if (scope && !line->is_interval && strcmp(scope, "stack") != 0)
		rows_complain(&problem, "scope", "is neither \"stack\" nor \"interval\"");
	const char *const host = rows_text(line, "host", &problem);

	line->host = host ? host : "";
	line->program = rows_text(line, "program", &problem);
	line->kind = rows_text(line, "kind", &problem);
	line->way = rows_text(line, "way", &problem);
	line->verdict = rows_text(line, "verdict", &problem);
	line->pid = rows_pid(line, &problem);
	line->process_start = rows_time(line, "process_start", &problem);
	line->watch_begin = rows_time(line, "watch_begin", &problem);
	line->interval_begin = rows_time(line, "interval_begin", &problem);
	line->interval_end = rows_time(line, "interval_end", &problem);
	rows_take_figures(line, &problem);
	if (!line->interval_end)
		rows_complain(&problem, "interval_end", "is missing");
	if (problem.is_damaged)
		rows_line_free(line);
	return !problem.is_damaged;
}

void rows_line_free(struct rows_line *line)
{
	json_decref(line->json);
	line->json = NULL;
}
