/* Writes the columns of a row: see row_line.h. */
#include "config.h"
#include "export/row_line.h"
#include "base/json.h"
#include "base/time_units.h"
#include "profile/frame_origin.h"

#include <inttypes.h>
#include <math.h>
#include <time.h>

/* The columns with a figure. */
struct row_figure {
	const char *name;
	double value;
};

struct row_line row_line_unknown(void)
{
	return (struct row_line){
		.allocated_rate = NAN,
		.call_rate = NAN,
		.live = NAN,
		.live_low = NAN,
		.live_high = NAN,
		.blocks = NAN,
		.growth = NAN,
		.growth_low = NAN,
		.growth_high = NAN,
		.lost = NAN,
		.samples = NAN,
		.windows = NAN,
		.looks = NAN,
		.share = NAN,
		.heap_bytes = NAN,
		.heap_blocks = NAN,
		.before = NAN,
		.stacks = NAN,
		.unattributed = NAN,
		.calls_seen = NAN,
		.calls_unseen = NAN,
		.cost_budget = NAN,
		.cost_target = NAN,
		.cost_own = NAN,
		.cost_pause = NAN,
	};
}

static void row_add_name(struct buf *out, const char *name)
{
	buf_printf(out, "%s\"%s\":", out->data[out->size - 1] == '{' ? "" : ",", name);
}

static void row_add_text(struct buf *out, const char *name, const char *text)
{
	row_add_name(out, name);
	json_add_string(out, text);
}

/* JSON has neither infinity nor NaN. The figures are estimates or whole numbers, so that six digits are enough for
 * fractions. Whole numbers below 1e18 are written without an exponent, because some databases read no others into
 * columns of integers. */
static void row_add_figure(struct buf *out, const char *name, double value)
{
	row_add_name(out, name);
	if (!isfinite(value))
		buf_add_str(out, "null");
	else
		buf_printf(out, fabs(value) < 1e5 ? "%.6g" : fabs(value) < 1e18 ? "%.0f" : "%.17g", value);
}

/* Databases sort and compare such times as texts, too, because they all have the same length. */
static void row_add_time(struct buf *out, const char *name, uint64_t ns)
{
	const time_t second = (time_t)(ns / NS_PER_SECOND);
	char text[32];
	struct tm tm;

	row_add_name(out, name);
	if (!ns || !gmtime_r(&second, &tm) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
		buf_add_str(out, "null");
	else
		buf_printf(out, "\"%s.%09" PRIu64 "Z\"", text, ns % NS_PER_SECOND);
}

/* Begins an array, or its next item. */
static void row_add_separator(struct buf *out, size_t i)
{
	buf_add_char(out, i ? ',' : '[');
}

static void row_add_texts(struct buf *out, const char *name, const struct row_line *row, size_t member)
{
	row_add_name(out, name);
	for (size_t i = 0; i < row->frame_count; i++) {
		row_add_separator(out, i);
		json_add_string(out, *(const char *const *)((const char *)&row->frames[i] + member));
	}
	buf_add_str(out, row->frame_count ? "]" : "[]");
}

static void row_add_frames(struct buf *out, const struct row_line *row)
{
	row_add_texts(out, "functions", row, offsetof(struct watch_frame, function));
	row_add_texts(out, "files", row, offsetof(struct watch_frame, file));
	row_add_name(out, "lines");
	for (size_t i = 0; i < row->frame_count; i++) {
		row_add_separator(out, i);
		if (row->frames[i].line)
			buf_printf(out, "%u", row->frames[i].line);
		else
			buf_add_str(out, "null");
	}
	buf_add_str(out, row->frame_count ? "]" : "[]");
	row_add_texts(out, "objects", row, offsetof(struct watch_frame, object));
	row_add_texts(out, "build_ids", row, offsetof(struct watch_frame, build_id));
	row_add_name(out, "offsets");
	for (size_t i = 0; i < row->frame_count; i++) {
		row_add_separator(out, i);
		buf_printf(out, "%" PRIu64, row->frames[i].offset);
	}
	buf_add_str(out, row->frame_count ? "]" : "[]");
}

static void row_add_figures(struct buf *out, const struct row_figure *figures, size_t count)
{
	for (size_t i = 0; i < count; i++)
		row_add_figure(out, figures[i].name, figures[i].value);
}

static void row_add_process(struct buf *out, const struct row_line *row)
{
	row_add_text(out, "scope", row->scope);
	row_add_text(out, "host", row->host);
	row_add_text(out, "service", row->service);
	row_add_text(out, "program", row->program);
	row_add_text(out, "build_id", row->build_id);
	row_add_figure(out, "pid", row->pid ? (double)row->pid : NAN);
	row_add_time(out, "process_start", row->process_start_ns);
	row_add_time(out, "watch_begin", row->watch_begin_ns);
	row_add_time(out, "interval_begin", row->interval_begin_ns);
	row_add_time(out, "interval_end", row->interval_end_ns);
	row_add_text(out, "kind", row->kind);
	row_add_text(out, "way", row->way);
}

void row_line_add(struct buf *out, const struct row_line *row)
{
	const struct row_figure figures[] = {
		{"allocated_rate", row->allocated_rate},
		{"call_rate", row->call_rate},
		{"live", row->live},
		{"live_low", row->live_low},
		{"live_high", row->live_high},
		{"blocks", row->blocks},
		{"growth", row->growth},
		{"growth_low", row->growth_low},
		{"growth_high", row->growth_high},
		{"lost", row->lost},
	};
	const struct row_figure certainty[] = {
		{"samples", row->samples},
		{"windows", row->windows},
		{"looks", row->looks},
		{"share", row->share},
		{"heap_bytes", row->heap_bytes},
		{"heap_blocks", row->heap_blocks},
		{"before", row->before},
		{"unattributed", row->unattributed},
		{"stacks", row->stacks},
		{"calls_seen", row->calls_seen},
		{"calls_unseen", row->calls_unseen},
		{"cost_budget", row->cost_budget},
		{"cost_target", row->cost_target},
		{"cost_own", row->cost_own},
		{"cost_pause", row->cost_pause},
	};

	buf_add_char(out, '{');
	row_add_process(out, row);
	row_add_text(out, "function", row_function(row->frames, row->frame_count));
	row_add_name(out, "id");
	if (row->has_id)
		buf_printf(out, "\"%016" PRIx64 "\"", row->id);
	else
		buf_add_str(out, "null");
	row_add_frames(out, row);
	row_add_figures(out, figures, ARRAY_SIZE(figures));
	row_add_text(out, "verdict", row->verdict);
	row_add_figures(out, certainty, ARRAY_SIZE(certainty));
	row_add_time(out, "looked", row->looked_ns);
	row_add_time(out, "scanned", row->scanned_ns);
	buf_add_str(out, "}\n");
}

/* Programs have allocators of their own with names such as zmalloc, PyObject_Malloc and ngx_palloc. C++ and Rust have
 * theirs in scopes that profile_function_is_standard() knows. */
static bool is_allocator_name(const char *function)
{
	static const char *const parts[] = {"malloc", "calloc", "realloc", "memalign"};
	static const char *const ends[] = {"palloc", "valloc", "aligned_alloc", "rust_alloc", "rust_alloc_zeroed"};
	const size_t size = strcspn(function, "(");

	if (memchr(function, ':', size) || memchr(function, '<', size))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		for (size_t at = 0; at + strlen(parts[i]) <= size; at++)
			if (!strncasecmp(function + at, parts[i], strlen(parts[i])))
				return true;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (size >= strlen(ends[i]) && !strncmp(function + size - strlen(ends[i]), ends[i], strlen(ends[i])))
			return true;
	return false;
}

const char *row_function(const struct watch_frame *frames, size_t count)
{
	const char *innermost = NULL;

	for (size_t i = 0; i < count; i++) {
		const char *const function = frames[i].function;
		const struct profile_frame frame = {.module = frames[i].object};

		if (!function)
			continue;
		innermost = innermost ? innermost : function;
		if (!profile_frame_is_runtime(&frame) && !profile_function_is_standard(function) &&
		    !is_allocator_name(function))
			return function;
	}
	return innermost;
}

static uint64_t fnv_add(uint64_t hash, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3;
	return hash;
}

static const char *row_object_name(const struct watch_frame *frame)
{
	return frame->build_id ? frame->build_id : frame->object ? path_name(frame->object) : "";
}

uint64_t row_stack_id(const struct watch_frame *frames, size_t count)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < count; i++) {
		const char *const object = row_object_name(&frames[i]);
		unsigned char offset[8];

		if (i && frames[i].offset == frames[i - 1].offset && !strcmp(object, row_object_name(&frames[i - 1])))
			continue;
		for (size_t k = 0; k < sizeof(offset); k++)
			offset[k] = (unsigned char)(frames[i].offset >> 8 * k);
		hash = fnv_add(hash, object, strlen(object) + 1);
		hash = fnv_add(hash, offset, sizeof(offset));
	}
	return hash;
}
