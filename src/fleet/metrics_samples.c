/* Makes the samples of one interval: see metrics_samples.h. */
#include "config.h"
#include "fleet/metrics_samples.h"
#include "base/terminal_escape.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Limits of labels, in bytes: a demangled name of C++ may have many thousands. */
#define NAME_MAX_SIZE  200 /* of a service, a host or a function */
#define FRAME_MAX_SIZE 80  /* of a function in a path */
#define PATH_FRAMES    6

/* The rows of one stack. */
struct metrics_stack {
	const struct watch_row *row; /* that with the most live bytes */
	struct watch_stack sum;
};

/* Returns the number of bytes of the text that are kept: all, or at most `max`, up to the end of a character. */
static size_t kept_size(const char *text, size_t max)
{
	size_t size = strnlen(text, max + 1);

	if (size <= max)
		return size;
	for (size = max; size && ((unsigned char)text[size] & 0xc0) == 0x80;)
		size--;
	return size;
}

static void add_cut(struct buf *out, const char *text, size_t max)
{
	const size_t size = kept_size(text, max);

	buf_add(out, text, size);
	if (text[size])
		buf_add_str(out, "...");
}

void metrics_add_label(struct buf *out, const char *name, const char *text, size_t max)
{
	struct buf cut = {0};

	add_cut(&cut, text ? text : "", max);
	buf_printf(out, "%s%s=\"", out->size && out->data[out->size - 1] != '{' ? "," : "", name);
	for (const unsigned char *at = (const unsigned char *)buf_str(&cut); *at;) {
		const size_t size = utf8_size(at);

		if (*at == '\n')
			buf_add_str(out, "\\n");
		else if (!plain_size((const char *)at)) /* also if it is invalid */
			buf_add_str(out, "\xef\xbf\xbd");
		else if (*at == '"' || *at == '\\')
			buf_printf(out, "\\%c", *at);
		else
			buf_add(out, at, size);
		at += size ? size : 1;
	}
	buf_add_char(out, '"');
	buf_free(&cut);
}

static void sample_add(struct buf *samples, enum metrics_family_id id, const char *labels, const char *value)
{
	const struct metrics_family *const family = metrics_family(id);

	buf_printf(&samples[id], "%s%s{%s} %s\n", family->name, metrics_suffix(family->type), labels, value);
}

/* Appends a value, unless it is unknown. */
static void sample_value(struct buf *samples, enum metrics_family_id id, const char *labels, double value)
{
	char text[32];

	if (!isfinite(value) || value == WATCH_UNKNOWN)
		return;
	snprintf(text, sizeof(text), "%.15g", value);
	sample_add(samples, id, labels, text);
}

/* Does the same for a value that cannot be below 0. */
static void sample_amount(struct buf *samples, enum metrics_family_id id, const char *labels, double value)
{
	if (value >= 0)
		sample_value(samples, id, labels, value);
}

static void sample_count(struct buf *samples, enum metrics_family_id id, const char *labels, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	sample_add(samples, id, labels, text);
}

static void sample_time(struct buf *samples, enum metrics_family_id id, const char *labels, uint64_t ns)
{
	sample_amount(samples, id, labels, ns ? (double)ns / 1e9 : WATCH_UNKNOWN);
}

static void add_frame(struct buf *out, const struct watch_frame *frame, size_t max)
{
	if (frame->function && *frame->function) {
		add_cut(out, frame->function, max);
		return;
	}
	if (frame->object) {
		add_cut(out, path_name(frame->object), max);
		buf_add_char(out, '+');
	}
	buf_printf(out, "0x%" PRIx64, frame->offset);
}

static void add_stack_info(struct buf *samples, const char *labels, const struct watch_row *row)
{
	struct buf all = {0}, name = {0}, path = {0};

	for (size_t i = 0; i < row->frame_count && i < PATH_FRAMES; i++) {
		buf_add_str(&path, i ? " < " : "");
		add_frame(&path, &row->frames[i], FRAME_MAX_SIZE);
	}
	if (row->frame_count > PATH_FRAMES)
		buf_add_str(&path, " < ...");
	if (row->frame_count)
		add_frame(&name, &row->frames[0], NAME_MAX_SIZE);
	else
		buf_add_str(&name, "unknown");
	buf_add_str(&all, labels);
	metrics_add_label(&all, "function", buf_str(&name), name.size);
	metrics_add_label(&all, "path", buf_str(&path), path.size);
	sample_add(samples, METRICS_STACK, buf_str(&all), "1");
	buf_free(&all);
	buf_free(&name);
	buf_free(&path);
}

static void add_stack(struct buf *samples, const char *process, const struct metrics_stack *stack, bool has_scan)
{
	const struct watch_stack *const sum = &stack->sum;
	char *const labels = xasprintf("%s,stack=\"%016" PRIx64 "\"", process, stack->row->id);

	add_stack_info(samples, labels, stack->row);
	sample_amount(samples, METRICS_STACK_LIVE, labels, sum->live);
	sample_amount(samples, METRICS_STACK_LIVE_LOW, labels, sum->live_low);
	sample_amount(samples, METRICS_STACK_LIVE_HIGH, labels, sum->live_high);
	sample_value(samples, METRICS_STACK_GROWTH, labels, sum->growth);
	sample_value(samples, METRICS_STACK_GROWTH_LOW, labels, sum->growth_low);
	sample_value(samples, METRICS_STACK_GROWTH_HIGH, labels, sum->growth_high);
	if (has_scan)
		sample_amount(samples, METRICS_STACK_LOST, labels, sum->lost);
	if (sum->verdict == WATCH_GROWING || sum->verdict == WATCH_SOUND)
		sample_count(samples, METRICS_STACK_GROWING, labels, sum->verdict == WATCH_GROWING);
	free(labels);
}

static int compare_down(double a, double b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

/* Values that are not numbers come last, because qsort() needs an order. */
static double rank_value(double value)
{
	return isnan(value) ? -INFINITY : value;
}

static int compare_ids(const void *a, const void *b)
{
	const struct metrics_stack *const first = a, *const second = b;
	const int order = compare_u64(first->row->id, second->row->id);

	return order ? order : compare_down(rank_value(first->sum.live), rank_value(second->sum.live));
}

static int compare_live(const void *a, const void *b)
{
	const struct metrics_stack *const first = a, *const second = b;
	const int order = compare_down(rank_value(first->sum.live), rank_value(second->sum.live));

	return order ? order : compare_u64(first->row->id, second->row->id);
}

/* The growth of a stack that is called growing: that of the others is noise. */
static double rank_of_growth(const struct metrics_stack *stack)
{
	return stack->sum.verdict == WATCH_GROWING ? rank_value(stack->sum.growth) : -INFINITY;
}

static int compare_harm(const void *a, const void *b)
{
	const struct metrics_stack *const first = a, *const second = b;
	int order = compare_down(rank_of_growth(first), rank_of_growth(second));

	order = order ? order : compare_down(rank_value(first->sum.lost), rank_value(second->sum.lost));
	return order ? order : compare_live(a, b);
}

/* A sum with an unknown part is unknown. */
static void add_known(double *sum, double more)
{
	*sum = *sum == WATCH_UNKNOWN || more == WATCH_UNKNOWN ? (double)NAN : *sum + more;
}

static void add_up(struct watch_stack *sum, const struct watch_stack *more)
{
	add_known(&sum->live, more->live);
	add_known(&sum->live_low, more->live_low);
	add_known(&sum->live_high, more->live_high);
	add_known(&sum->growth, more->growth);
	add_known(&sum->growth_low, more->growth_low);
	add_known(&sum->growth_high, more->growth_high);
	add_known(&sum->lost, more->lost);
	if (more->verdict == WATCH_GROWING)
		sum->verdict = WATCH_GROWING;
}

/* Returns one element for each id, which the caller frees. */
static struct metrics_stack *merged_rows(const struct watch_interval *interval, size_t *count)
{
	struct metrics_stack *const stacks = xcalloc(interval->count + 1, sizeof(*stacks));
	size_t kept = 0;

	for (size_t i = 0; i < interval->count; i++) {
		stacks[i] = (struct metrics_stack){&interval->rows[i], interval->rows[i].estimate};
		if (!watch_knows_growth(&stacks[i].sum))
			stacks[i].sum.growth = stacks[i].sum.growth_low = stacks[i].sum.growth_high = NAN;
	}
	qsort(stacks, interval->count, sizeof(*stacks), compare_ids);
	for (size_t i = 0; i < interval->count; i++)
		if (kept && stacks[kept - 1].row->id == stacks[i].row->id)
			add_up(&stacks[kept - 1].sum, &stacks[i].sum);
		else
			stacks[kept++] = stacks[i];
	*count = kept;
	return stacks;
}

static void add_stacks(struct buf *samples, const char *process, const struct watch_interval *interval,
		       size_t stacks_max)
{
	size_t count;
	struct metrics_stack *const stacks = merged_rows(interval, &count);
	const size_t large = stacks_max - stacks_max / 2;

	qsort(stacks, count, sizeof(*stacks), compare_live);
	if (count > stacks_max)
		qsort(stacks + large, count - large, sizeof(*stacks), compare_harm);
	for (size_t i = 0; i < count && i < stacks_max; i++)
		add_stack(samples, process, &stacks[i], interval->lost >= 0);
	free(stacks);
}

/* Appends the sums over all rows. Before the first window and look there is no estimate, so nothing is known. */
static void sample_sums(struct buf *samples, const char *labels, const struct watch_interval *interval)
{
	double live = 0, growth = 0;

	if (!interval->windows || !interval->looks)
		return;
	for (size_t i = 0; i < interval->count; i++) {
		const struct watch_stack *const estimate = &interval->rows[i].estimate;

		live += isfinite(estimate->live) && estimate->live > 0 ? estimate->live : 0;
		growth +=
			watch_knows_growth(estimate) && isfinite(estimate->growth) && estimate->growth != WATCH_UNKNOWN
				? estimate->growth
				: 0;
	}
	sample_amount(samples, METRICS_LIVE, labels, live);
	sample_value(samples, METRICS_GROWTH, labels, growth);
}

static void add_process_info(struct buf *samples, const char *labels, const struct watch_interval *interval)
{
	struct buf all = {0};

	buf_add_str(&all, labels);
	metrics_add_label(&all, "host", interval->host, NAME_MAX_SIZE);
	metrics_add_label(&all, "program", interval->program, NAME_MAX_SIZE);
	metrics_add_label(&all, "build_id", interval->build_id, NAME_MAX_SIZE);
	metrics_add_label(&all, "way", interval->way, NAME_MAX_SIZE);
	sample_add(samples, METRICS_PROCESS, buf_str(&all), "1");
	buf_free(&all);
}

static void add_cost(struct buf *samples, const char *labels, const struct watch_cost *cost)
{
	char *const target = xasprintf("%s,part=\"target\"", labels), *const own = xasprintf("%s,part=\"own\"", labels);

	sample_amount(samples, METRICS_BUDGET, labels, cost->budget);
	sample_amount(samples, METRICS_COST, target, cost->target);
	sample_amount(samples, METRICS_COST, own, cost->own);
	sample_amount(samples, METRICS_PAUSE, labels, (double)cost->longest_ns / 1e9);
	free(target);
	free(own);
}

void metrics_add_samples(struct buf samples[METRICS_FAMILIES], const struct watch_interval *interval, size_t stacks_max)
{
	struct buf buf = {0};

	metrics_add_label(&buf, "service", interval->service, NAME_MAX_SIZE);
	buf_printf(&buf, ",pid=\"%d\"", (int)interval->pid);
	const char *const labels = buf_str(&buf);

	add_process_info(samples, labels, interval);
	sample_sums(samples, labels, interval);
	sample_amount(samples, METRICS_LOST, labels, interval->lost);
	sample_count(samples, METRICS_CALLS, labels, interval->calls);
	sample_count(samples, METRICS_UNSEEN, labels, interval->unseen);
	sample_count(samples, METRICS_WINDOWS, labels, interval->windows);
	sample_count(samples, METRICS_LOOKS, labels, interval->looks);
	sample_amount(samples, METRICS_WATCHED, labels, interval->share);
	add_cost(samples, labels, &interval->cost);
	sample_amount(samples, METRICS_HEAP, labels, interval->heap_bytes);
	sample_amount(samples, METRICS_HEAP_BLOCKS, labels, interval->heap_blocks);
	sample_amount(samples, METRICS_BEFORE, labels, interval->before);
	sample_amount(samples, METRICS_UNATTRIBUTED, labels, interval->unattributed);
	sample_count(samples, METRICS_STACK_COUNT, labels, interval->stacks);
	sample_time(samples, METRICS_BEGAN, labels, interval->began_ns);
	sample_time(samples, METRICS_END, labels, interval->end_ns);
	add_stacks(samples, labels, interval, stacks_max);
	buf_free(&buf);
}
