/* metrics_made WHERE: shows made-up intervals by src/fleet/metrics.h. Reads commands from standard input, a line each,
 * and answers each with a line on standard output:
 *
 *	row KEY=VALUE...        adds a row to the next interval
 *	interval KEY=VALUE...   shows an interval with the rows since the last one
 *	forget PID
 *
 * Values have no spaces; %XX is a byte. The end of the input closes the metrics. Ends with status 1, after a line with
 * the reason, if the metrics cannot be shown; with status 2 for a wrong command. */
#include "config.h"
#include "fleet/metrics.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS   1024
#define FRAMES 16
#define TEXTS  8

static struct watch_row rows[ROWS];
static struct watch_frame frames[ROWS][FRAMES];
static char *texts[ROWS * FRAMES + TEXTS]; /* what the rows and the interval point to */
static size_t row_count, text_count;

static const char *decoded(const char *value)
{
	char *const text = xstrdup(value), *to = text;

	for (const char *at = value; *at; at++) {
		const char digits[] = {at[0] == '%' ? at[1] : '0', at[0] == '%' && at[1] ? at[2] : '0', 0};

		*to++ = *at == '%' ? (char)strtoul(digits, NULL, 16) : *at;
		at += *at == '%' ? 2 : 0;
	}
	*to = 0;
	texts[text_count++] = text;
	return text;
}

static void forget_texts(void)
{
	while (text_count)
		free(texts[--text_count]);
	row_count = 0;
	memset(rows, 0, sizeof(rows));
	memset(frames, 0, sizeof(frames));
}

/* Stores a value if it is that of a number or a text with this key. Returns true if it was. */
struct made_field {
	const char *key;
	double *number;
	const char **text;
};

static bool store_field(const struct made_field *fields, size_t count, const char *key, const char *value)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(fields[i].key, key))
			continue;
		if (fields[i].number)
			*fields[i].number = strtod(value, NULL);
		else
			*fields[i].text = decoded(value);
		return true;
	}
	return false;
}

/* A frame is FUNCTION, or OBJECT+OFFSET. */
static void add_made_frame(const char *value)
{
	struct watch_row *const row = &rows[row_count];
	struct watch_frame *const frame = &frames[row_count][row->frame_count++];
	char *const plus = strrchr(value, '+');

	if (!plus) {
		frame->function = decoded(value);
		return;
	}
	*plus = 0;
	frame->object = *value ? decoded(value) : NULL;
	frame->offset = strtoull(plus + 1, NULL, 16);
}

static bool set_row(const char *key, const char *value, void *context)
{
	struct watch_row *const row = &rows[row_count];
	struct watch_stack *const sum = &row->estimate;
	const struct made_field fields[] = {
		{"live", &sum->live, NULL},     {"live_low", &sum->live_low, NULL},
		{"growth", &sum->growth, NULL}, {"live_high", &sum->live_high, NULL},
		{"lost", &sum->lost, NULL},     {"growth_low", &sum->growth_low, NULL},
		{"blocks", &sum->blocks, NULL}, {"growth_high", &sum->growth_high, NULL},
	};

	(void)context;
	row->frames = frames[row_count];
	if (!strcmp(key, "id"))
		row->id = strtoull(value, NULL, 16);
	else if (!strcmp(key, "verdict"))
		sum->verdict = (enum watch_verdict)atoi(value);
	else if (!strcmp(key, "frame") && row->frame_count < FRAMES)
		add_made_frame((char *)(uintptr_t)value);
	else
		return store_field(fields, ARRAY_SIZE(fields), key, value);
	return true;
}

/* The numbers of an interval that are no doubles. */
struct made_numbers {
	struct watch_interval *interval;
	double pid, began, begin, end, windows, looks, calls, unseen, pause, stacks;
};

static bool set_interval(const char *key, const char *value, void *context)
{
	struct made_numbers *const n = context;
	struct watch_interval *const i = n->interval;
	const struct made_field fields[] = {
		{"pid", &n->pid, NULL},
		{"began", &n->began, NULL},
		{"begin", &n->begin, NULL},
		{"end", &n->end, NULL},
		{"windows", &n->windows, NULL},
		{"looks", &n->looks, NULL},
		{"calls", &n->calls, NULL},
		{"unseen", &n->unseen, NULL},
		{"pause", &n->pause, NULL},
		{"stacks", &n->stacks, NULL},
		{"budget", &i->cost.budget, NULL},
		{"target", &i->cost.target, NULL},
		{"own", &i->cost.own, NULL},
		{"share", &i->share, NULL},
		{"heap_bytes", &i->heap_bytes, NULL},
		{"heap_blocks", &i->heap_blocks, NULL},
		{"before", &i->before, NULL},
		{"unattributed", &i->unattributed, NULL},
		{"lost", &i->lost, NULL},
		{"host", NULL, &i->host},
		{"service", NULL, &i->service},
		{"program", NULL, &i->program},
		{"build_id", NULL, &i->build_id},
		{"way", NULL, &i->way},
	};

	return store_field(fields, ARRAY_SIZE(fields), key, value);
}

/* Reads KEY=VALUE... Returns false if a key is unknown. */
static bool read_fields(char *words, bool (*set)(const char *key, const char *value, void *context), void *context)
{
	for (char *word = strtok(words, " \n"); word; word = strtok(NULL, " \n")) {
		char *const equals = strchr(word, '=');

		if (!equals)
			return false;
		*equals = 0;
		if (!set(word, equals + 1, context))
			return false;
	}
	return true;
}

static bool show_interval(struct metrics *m, char *words)
{
	struct watch_interval interval = {.heap_bytes = WATCH_UNKNOWN,
					  .heap_blocks = WATCH_UNKNOWN,
					  .before = WATCH_UNKNOWN,
					  .unattributed = WATCH_UNKNOWN,
					  .lost = WATCH_UNKNOWN,
					  .rows = rows,
					  .count = row_count};
	struct made_numbers n = {.interval = &interval};

	if (!read_fields(words, set_interval, &n))
		return false;
	interval.pid = (pid_t)n.pid;
	interval.began_ns = (uint64_t)(n.began * 1e9);
	interval.begin_ns = (uint64_t)(n.begin * 1e9);
	interval.end_ns = (uint64_t)(n.end * 1e9);
	interval.windows = (size_t)n.windows;
	interval.looks = (size_t)n.looks;
	interval.calls = (uint64_t)n.calls;
	interval.unseen = (uint64_t)n.unseen;
	interval.stacks = (size_t)n.stacks;
	interval.cost.longest_ns = (uint64_t)(n.pause * 1e9);
	metrics_set(m, &interval);
	forget_texts();
	return true;
}

static bool obey(struct metrics *m, char *line)
{
	char *const words = strchr(line, ' ');

	if (!words)
		return false;
	*words = 0;
	if (!strcmp(line, "interval"))
		return show_interval(m, words + 1);
	if (!strcmp(line, "forget")) {
		metrics_forget(m, atoi(words + 1));
		return true;
	}
	if (strcmp(line, "row") || row_count == ROWS || !read_fields(words + 1, set_row, NULL))
		return false;
	row_count++;
	return true;
}

int main(int argc, char **argv)
{
	char why[512] = "no reason was given", *line = NULL;
	size_t room = 0;
	int status = 0;
	struct metrics *const m = argc == 2 ? metrics_open(argv[1], why, sizeof(why)) : NULL;

	if (!m) {
		puts(why);
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("open");
	while (!status && getline(&line, &room, stdin) > 0) {
		if (!obey(m, line))
			status = 2;
		puts(status ? "wrong" : "done");
	}
	forget_texts();
	free(line);
	metrics_close(m);
	return status;
}
