#include "config.h"
#include "fleet/watch_text.h"
#include "base/time_units.h"
#include "base/util.h"
#include "export/row_line.h"
#include "proc/proc.h"
#include "report/pretty.h"
#include "report/shorten.h"

#include <string.h>
#include <time.h>

#define FRAMES_SHOWN   12
#define WITH_DAY       "%Y-%m-%d %H:%M:%S"
#define NAME_MAX_SHOWN 120 /* bytes of a function's name */

/* Appends a time in this format of strftime(3). */
static void __attribute__((format(strftime, 3, 0))) add_time(struct buf *out, uint64_t ns, const char *format)
{
	const time_t seconds = (time_t)(ns / 1000000000);
	struct tm tm;
	char text[64];

	if (!localtime_r(&seconds, &tm) || !strftime(text, sizeof(text), format, &tm))
		strcpy(text, "?");
	buf_add_str(out, text);
}

/* Returns the format of a time of day; with the day, if the time is not within a day before the interval's end. */
static const char *time_format(const struct watch_interval *interval, uint64_t ns)
{
	return ns + NS_PER_DAY > interval->end_ns ? "%H:%M:%S" : WITH_DAY;
}

/* Appends a number of bytes with three digits or more: 812, 13.4 K, 1,230 M. */
static void watch_text_add_bytes(struct buf *out, double bytes)
{
	static const char units[] = " KMGT";
	size_t unit = 0;

	for (; (bytes >= 9999.5 || bytes <= -9999.5) && units[unit + 1]; unit++)
		bytes /= 1024;
	if (unit)
		buf_printf(out, "%.*f %c", bytes < 100 && bytes > -100 ? 1 : 0, bytes, units[unit]);
	else
		buf_printf(out, "%.0f", bytes);
}

static void add_interval(struct buf *out, double value, double low, double high, double factor)
{
	watch_text_add_bytes(out, value * factor);
	buf_add_str(out, " (");
	watch_text_add_bytes(out, low * factor);
	buf_add_str(out, " to ");
	watch_text_add_bytes(out, high * factor);
	buf_add_char(out, ')');
}

static const char *const verdicts[] = {
	[WATCH_SOUND] = "does not grow",
	[WATCH_GROWING] = "GROWS",
	[WATCH_FEW_WINDOWS] = "too few windows or samples to say whether it grows",
	[WATCH_UNRESOLVED] = "not resolvable: other blocks take the addresses too fast",
};

static const char *file_part_of(const char *path)
{
	const char *const slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/* Appends the name as the report shows it on a terminal. Names of C++ may have thousands of characters. */
static void add_short_name(struct buf *out, const char *function)
{
	const size_t begin = out->size;

	pretty_name(out, function);
	if (out->size - begin > NAME_MAX_SHOWN)
		shorten_name(out, begin, out->size, out->size - begin - NAME_MAX_SHOWN);
}

static void add_watch_frame(struct buf *out, const struct watch_frame *frame)
{
	if (frame->function)
		add_short_name(out, frame->function);
	else
		buf_printf(out, "%s+0x%llx", frame->object ? file_part_of(frame->object) : "",
			   (unsigned long long)frame->offset);
	if (frame->function && frame->file)
		buf_printf(out, "  %s:%u", file_part_of(frame->file), frame->line);
	else if (frame->function && frame->object)
		buf_printf(out, "  %s", file_part_of(frame->object));
}

/* Appends the frame of the program that tells most about the stack: see row_function(). */
static void add_telling_frame(struct buf *out, const struct watch_row *row)
{
	const char *const function = row_function(row->frames, row->frame_count);
	size_t at = 0;

	while (function && row->frames[at].function != function)
		at++;
	if (row->frame_count)
		add_watch_frame(out, &row->frames[at]);
	else
		buf_add_str(out, "all stacks beyond the first 10,000");
}

static void add_row(struct buf *out, const struct watch_row *row, size_t number)
{
	const struct watch_stack *const stack = &row->estimate;

	buf_printf(out, "\n%zu. live: ", number);
	add_interval(out, stack->live, stack->live_low, stack->live_high, 1);
	buf_printf(out, " bytes in %.0f blocks; growth an hour: ", stack->blocks);
	if (watch_knows_growth(stack))
		add_interval(out, stack->growth, stack->growth_low, stack->growth_high, SECONDS_PER_HOUR);
	else
		buf_add_str(out, "unknown");
	if (stack->lost > 0) {
		buf_add_str(out, "; LOST: ");
		watch_text_add_bytes(out, stack->lost);
	}
	buf_printf(out, "\n   %s; %.0f allocations a second; %zu samples, %zu of them may live; stack %016llx\n",
		   verdicts[stack->verdict], row->calls, stack->samples, stack->survivors, (unsigned long long)row->id);
	for (size_t i = 0; i < row->frame_count && i < FRAMES_SHOWN; i++) {
		buf_add_str(out, "     ");
		add_watch_frame(out, &row->frames[i]);
		buf_add_char(out, '\n');
	}
	if (row->frame_count > FRAMES_SHOWN)
		buf_printf(out, "     and %zu more\n", row->frame_count - FRAMES_SHOWN);
	if (!row->frame_count)
		buf_add_str(out, "     all stacks beyond the first 10,000\n");
}

static void text_add_cost(struct buf *out, const struct watch_interval *interval)
{
	const struct watch_cost *const cost = &interval->cost;

	buf_printf(out, "cost %.2f %% of a CPU (target %.2f %%, functrace %.2f %%; budget %.3g %%)",
		   (cost->target + cost->own) * 100, cost->target * 100, cost->own * 100, cost->budget * 100);
}

/* Appends the path of the program, after the name by which it was started if the file has another one. */
static void text_add_program(struct buf *out, const struct watch_interval *interval)
{
	const char *const name = interval->started_name, *const file = path_name(interval->program);
	const size_t length = name ? strlen(name) : 0;

	if (!name || (!strncmp(file, name, length) && proc_path_length(file) == length))
		buf_add_str(out, interval->program);
	else
		buf_printf(out, "%s (%s)", name, interval->program);
}

void watch_text_add(struct buf *out, const struct watch_interval *interval, size_t top)
{
	text_add_program(out, interval);
	buf_printf(out, " (%d) on %s, service %s\nwatched since ", interval->pid, interval->host, interval->service);
	add_time(out, interval->began_ns, WITH_DAY);
	buf_add_str(out, ", this is from ");
	add_time(out, interval->end_ns, WITH_DAY);
	if (interval->ending)
		buf_printf(out, "\nthe process %s, and these are the last estimates", interval->ending);
	if (interval->is_stopped)
		buf_add_str(out, "\nthe process is stopped by a signal");
	buf_printf(out, "\n%zu window%s (%.2f %% of the work), %zu look%s at the heap, %llu calls seen by %s%s\n",
		   interval->windows, interval->windows == 1 ? "" : "s", interval->share * 100, interval->looks,
		   interval->looks == 1 ? "" : "s", (unsigned long long)interval->calls,
		   strcmp(interval->way, "kernel") ? "" : "the ", interval->way);
	text_add_cost(out, interval);
	buf_printf(out, "; longest pause %.1f ms\n", (double)interval->cost.longest_ns / 1e6);
	if (interval->unseen)
		buf_printf(out, "%llu calls in windows were not seen, because they came too fast\n",
			   (unsigned long long)interval->unseen);
	if (interval->heap_bytes < 0) {
		buf_printf(out,
			   "heap: not read%s%s. Stacks are judged by the contents of their blocks alone: a block whose "
			   "first bytes change counts as released, so live bytes are lower bounds\n",
			   interval->reason ? ": " : "", interval->reason ? interval->reason : "");
	} else {
		buf_add_str(out, "heap in use at ");
		add_time(out, interval->looked_ns, time_format(interval, interval->looked_ns));
		buf_add_str(out, ": ");
		watch_text_add_bytes(out, interval->heap_bytes);
		buf_printf(out, " bytes in %.0f blocks; when the watch began: ", interval->heap_blocks);
		watch_text_add_bytes(out, interval->before);
		buf_add_str(out, "; older or not attributed: ");
		watch_text_add_bytes(out, interval->unattributed);
		buf_add_char(out, '\n');
	}
	if (interval->lost >= 0) {
		buf_add_str(out, "definitely lost: ");
		watch_text_add_bytes(out, interval->lost);
		buf_add_str(out, " bytes, exactly, by the scan of ");
		add_time(out, interval->scanned_ns, time_format(interval, interval->scanned_ns));
		buf_add_char(out, '\n');
	} else {
		buf_printf(out, "lost bytes: unknown%s%s\n", interval->lost_reason ? ": " : "",
			   interval->lost_reason ? interval->lost_reason : "");
	}
	buf_printf(out,
		   "%zu stack%s live bytes since then; all figures of stacks are estimates, with intervals of "
		   "90 %%%s\n",
		   interval->stacks, interval->stacks == 1 ? " has" : "s have",
		   interval->count > top ? "; the largest:" : "");
	for (size_t i = 0; i < interval->count && i < top; i++)
		add_row(out, &interval->rows[i], i + 1);
}

void watch_text_add_line(struct buf *out, const struct watch_interval *interval)
{
	size_t growing = 0, unresolved = 0;
	const struct watch_row *most = NULL;

	for (size_t i = 0; i < interval->count; i++) {
		unresolved += interval->rows[i].estimate.verdict == WATCH_UNRESOLVED;
		if (interval->rows[i].estimate.verdict != WATCH_GROWING)
			continue;
		growing++;
		if (!most || interval->rows[i].estimate.growth > most->estimate.growth)
			most = &interval->rows[i];
	}
	buf_printf(out, "%s (%d)%s%s: ", interval->service, interval->pid, interval->ending ? " " : "",
		   interval->ending       ? interval->ending
		   : interval->is_stopped ? " is stopped"
					  : "");
	if (interval->heap_bytes >= 0) {
		watch_text_add_bytes(out, interval->heap_bytes);
		buf_add_str(out, " bytes in use, ");
	}
	if (interval->lost >= 0) {
		watch_text_add_bytes(out, interval->lost);
		buf_add_str(out, " bytes lost, ");
	}
	buf_printf(out, "%zu stack%s grow%s", growing, growing == 1 ? "" : "s", growing == 1 ? "s" : "");
	if (most) {
		buf_add_str(out, ", most ");
		add_telling_frame(out, most);
		buf_add_str(out, " by ");
		watch_text_add_bytes(out, most->estimate.growth * SECONDS_PER_HOUR);
		buf_add_str(out, " bytes an hour");
	}
	if (unresolved)
		buf_printf(out, ", %zu not resolvable", unresolved);
	buf_printf(out, "; %zu window%s, ", interval->windows, interval->windows == 1 ? "" : "s");
	text_add_cost(out, interval);
}
