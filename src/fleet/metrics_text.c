/* Writes the text of all processes: see metrics_text.h. In both formats all samples of a family follow one another, so
 * each process has its lines by family. They are made when the interval comes, because its strings are not valid
 * later. */
#include "config.h"
#include "fleet/metrics_text.h"
#include "fleet/metrics_samples.h"

#include <pthread.h>
#include <stdlib.h>

struct metrics_process {
	pid_t pid;
	struct buf samples[METRICS_FAMILIES];
};

struct metrics_text {
	pthread_mutex_t lock; /* of all fields below */
	size_t stacks_max;
	struct metrics_process *processes;
	size_t count, capacity;
	uint64_t omitted; /* number of intervals that had no room */
};

struct metrics_text *metrics_text_new(size_t stacks_max)
{
	struct metrics_text *const text = xcalloc(1, sizeof(*text));

	pthread_mutex_init(&text->lock, NULL);
	text->stacks_max = stacks_max;
	return text;
}

static void free_samples(struct metrics_process *process)
{
	for (size_t i = 0; i < METRICS_FAMILIES; i++)
		buf_free(&process->samples[i]);
}

void metrics_text_free(struct metrics_text *text)
{
	for (size_t i = 0; i < text->count; i++)
		free_samples(&text->processes[i]);
	free(text->processes);
	pthread_mutex_destroy(&text->lock);
	free(text);
}

static struct metrics_process *metrics_find(struct metrics_text *text, pid_t pid)
{
	for (size_t i = 0; i < text->count; i++)
		if (text->processes[i].pid == pid)
			return &text->processes[i];
	return NULL;
}

/* Returns the element for a process, with no samples; NULL if there is no room. */
static struct metrics_process *metrics_place(struct metrics_text *text, pid_t pid)
{
	struct metrics_process *process = metrics_find(text, pid);

	if (process) {
		free_samples(process);
	} else if (text->count < METRICS_PROCESSES_MAX) {
		ARRAY_GROW(text->processes, text->capacity, text->count);
		process = &text->processes[text->count++];
	} else {
		return NULL;
	}
	*process = (struct metrics_process){.pid = pid};
	return process;
}

bool metrics_text_set(struct metrics_text *text, const struct watch_interval *interval)
{
	struct metrics_process made = {.pid = interval->pid};

	metrics_add_samples(made.samples, interval, text->stacks_max);
	pthread_mutex_lock(&text->lock);
	struct metrics_process *const process = metrics_place(text, interval->pid);

	if (process)
		*process = made;
	else
		text->omitted++;
	pthread_mutex_unlock(&text->lock);
	if (!process)
		free_samples(&made);
	return process;
}

void metrics_text_forget(struct metrics_text *text, pid_t pid)
{
	pthread_mutex_lock(&text->lock);
	struct metrics_process *const process = metrics_find(text, pid);

	if (process) {
		free_samples(process);
		*process = text->processes[--text->count];
	}
	pthread_mutex_unlock(&text->lock);
}

static void write_head(struct buf *out, enum metrics_format format, const struct metrics_family *family)
{
	static const char *const types[] = {"gauge", "counter", "info"};
	const bool is_open = format == METRICS_OPENMETRICS;
	/* Prometheus' text format knows no info, and describes samples by their own name. */
	const char *const suffix = is_open ? "" : metrics_suffix(family->type);
	const char *const type = !is_open && family->type == METRICS_INFO ? types[METRICS_GAUGE] : types[family->type];

	buf_printf(out, "# HELP %s%s %s\n# TYPE %s%s %s\n", family->name, suffix, family->help, family->name, suffix,
		   type);
	if (is_open && family->unit)
		buf_printf(out, "# UNIT %s %s\n", family->name, family->unit);
}

static bool metrics_has(const struct metrics_text *text, size_t family)
{
	for (size_t i = 0; i < text->count; i++)
		if (text->processes[i].samples[family].size)
			return true;
	return false;
}

/* Writes what describes functrace itself. */
static void write_own(struct metrics_text *text, enum metrics_format format, struct buf *out)
{
	static const struct metrics_family build = {"functrace_build", METRICS_INFO, NULL, "The version of functrace."},
					   processes = {"functrace_processes", METRICS_GAUGE, NULL,
							"Processes that are watched and are in this text."},
					   omitted = {"functrace_intervals_omitted", METRICS_COUNTER, NULL,
						      "Intervals of processes for which this text had no room."};

	write_head(out, format, &build);
	buf_add_str(out, "functrace_build_info{version=\"" PACKAGE_VERSION "\"} 1\n");
	write_head(out, format, &processes);
	buf_printf(out, "functrace_processes %zu\n", text->count);
	write_head(out, format, &omitted);
	buf_printf(out, "functrace_intervals_omitted_total %llu\n", (unsigned long long)text->omitted);
}

void metrics_text_write(struct metrics_text *text, enum metrics_format format, struct buf *out)
{
	pthread_mutex_lock(&text->lock);
	write_own(text, format, out);
	for (size_t family = 0; family < METRICS_FAMILIES; family++) {
		if (!metrics_has(text, family))
			continue;
		write_head(out, format, metrics_family((enum metrics_family_id)family));
		for (size_t i = 0; i < text->count; i++)
			buf_add(out, text->processes[i].samples[family].data, text->processes[i].samples[family].size);
	}
	pthread_mutex_unlock(&text->lock);
	if (format == METRICS_OPENMETRICS)
		buf_add_str(out, "# EOF\n");
}

const char *metrics_text_type(enum metrics_format format)
{
	return format == METRICS_OPENMETRICS ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
					     : "text/plain; version=0.0.4; charset=utf-8";
}
