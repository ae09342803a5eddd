/* Makes a profile for pprof from an interval: see interval_profile.h. */
#include "config.h"
#include "fleet/interval_profile.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/time_units.h"
#include "export/pprof_build.h"

#include <inttypes.h>
#include <stdlib.h>

#define GROWTH_UNIT "bytes_per_hour"

enum { INUSE_SPACE, INUSE_OBJECTS, ALLOC_SPACE, ALLOC_OBJECTS, GROWTH, LOST_SPACE, FIGURES };

static const struct pprof_figure interval_figures[FIGURES] = {
	[INUSE_SPACE] = {"inuse_space", "bytes"}, [INUSE_OBJECTS] = {"inuse_objects", "count"},
	[ALLOC_SPACE] = {"alloc_space", "bytes"}, [ALLOC_OBJECTS] = {"alloc_objects", "count"},
	[GROWTH] = {"growth", GROWTH_UNIT},       [LOST_SPACE] = {"lost_space", "bytes"},
};

/* A location of one frame. */
struct interval_place {
	uint64_t mapping, address, function;
	unsigned line;
};

struct interval_profile {
	struct pprof_build *build;
	bool is_unsigned;
	struct interval_place *places; /* the location with id i + 1 */
	size_t count, capacity;
	struct hash location_of; /* hash of a place, or a number after it -> id */
	struct buf room;
};

/* Returns the next whole number; 0 for no number. */
static int64_t rounded_value(double value)
{
	if (value != value)
		return 0;
	if (value >= (double)INT64_MAX)
		return INT64_MAX;
	if (value <= (double)INT64_MIN)
		return INT64_MIN;
	return (int64_t)(value < 0 ? value - 0.5 : value + 0.5);
}

static uint64_t interval_location(struct interval_profile *profile, const struct interval_place *place)
{
	uint64_t key = hash_mix(place->mapping ^ hash_mix(place->address ^ hash_mix(place->function))) ^ place->line;

	for (;; key++) {
		uint64_t *const id = hash_place(&profile->location_of, key);

		if (!*id) {
			const struct pprof_line line = {place->function, place->line};

			ARRAY_GROW(profile->places, profile->capacity, profile->count);
			profile->places[profile->count++] = *place;
			return *id = pprof_build_location(profile->build, place->mapping, place->address, &line, 1);
		}
		const struct interval_place *const known = &profile->places[*id - 1];

		if (known->mapping == place->mapping && known->address == place->address &&
		    known->function == place->function && known->line == place->line)
			return *id;
	}
}

/* Returns the function's name; if it is unknown, "[lib.so+0x123]", "[0x123]" or "[unknown]". */
static const char *watch_frame_name(struct interval_profile *profile, const struct watch_frame *frame, uint64_t call)
{
	if (frame->function)
		return frame->function;
	profile->room.size = 0;
	if (frame->object)
		buf_printf(&profile->room, "[%s+0x%" PRIx64 "]", path_name(frame->object), call);
	else if (!frame->offset)
		return "[unknown]";
	else
		buf_printf(&profile->room, "[0x%" PRIx64 "]", call);
	return buf_str(&profile->room);
}

static uint64_t frame_location(struct interval_profile *profile, const struct watch_frame *frame)
{
	/* A return address may be the first one after its function, so the address before it is taken. */
	const uint64_t call = frame->offset ? frame->offset - 1 : 0;
	struct interval_place place = {.address = call, .line = frame->line};

	if (frame->object) {
		place.mapping = pprof_build_mapping(profile->build, frame->object, frame->build_id, 0);
		pprof_build_cover(profile->build, place.mapping, call);
	}
	place.function = pprof_build_function(profile->build, watch_frame_name(profile, frame, call), frame->file);
	return interval_location(profile, &place);
}

static uint64_t named_location(struct interval_profile *profile, const char *name)
{
	const struct interval_place place = {.function = pprof_build_function(profile->build, name, NULL)};

	return interval_location(profile, &place);
}

static int64_t hourly(const struct interval_profile *profile, double bytes_a_second)
{
	const int64_t bytes = rounded_value(bytes_a_second * SECONDS_PER_HOUR);

	return profile->is_unsigned && bytes < 0 ? 0 : bytes;
}

static void profile_add_row(struct interval_profile *profile, const struct watch_row *row, double seconds)
{
	const struct watch_stack *const estimate = &row->estimate;
	const bool knows_growth = watch_knows_growth(estimate);
	const int64_t values[FIGURES] = {
		[INUSE_SPACE] = rounded_value(estimate->live),
		[INUSE_OBJECTS] = rounded_value(estimate->blocks),
		[ALLOC_SPACE] = rounded_value(row->allocated * seconds),
		[ALLOC_OBJECTS] = rounded_value(row->calls * seconds),
		[GROWTH] = knows_growth ? hourly(profile, estimate->growth) : 0,
		[LOST_SPACE] = rounded_value(estimate->lost),
	};
	uint64_t *const locations = xcalloc(row->frame_count + 1, sizeof(*locations));
	size_t count = 0;

	for (size_t i = 0; i < row->frame_count; i++)
		locations[count++] = frame_location(profile, &row->frames[i]);
	if (!count)
		locations[count++] = named_location(profile, "[unknown stack]");
	pprof_build_sample(profile->build, locations, count, values);
	free(locations);
	pprof_build_label(profile->build, "verdict", watch_verdict_word(estimate->verdict));
	pprof_build_number(profile->build, "live_low", rounded_value(estimate->live_low), "bytes");
	pprof_build_number(profile->build, "live_high", rounded_value(estimate->live_high), "bytes");
	if (!knows_growth)
		return;
	pprof_build_number(profile->build, "growth_low", hourly(profile, estimate->growth_low), GROWTH_UNIT);
	pprof_build_number(profile->build, "growth_high", hourly(profile, estimate->growth_high), GROWTH_UNIT);
}

/* Adds bytes of the heap that belong to no row. */
static void profile_add_rest(struct interval_profile *profile, const char *name, double bytes)
{
	const int64_t values[FIGURES] = {[INUSE_SPACE] = rounded_value(bytes)};
	const uint64_t location = values[INUSE_SPACE] > 0 ? named_location(profile, name) : 0;

	if (location)
		pprof_build_sample(profile->build, &location, 1, values);
}

static void FT_PRINTF(2, 3) profile_comment(struct interval_profile *profile, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	pprof_build_comment(profile->build, text);
}

static void profile_add_comments(struct interval_profile *profile, const struct watch_interval *interval)
{
	const struct watch_cost *const cost = &interval->cost;

	profile_comment(profile, "functrace " PACKAGE_VERSION " --watch");
	profile_comment(
		profile,
		"All values are estimates from samples: %zu windows, in which %.2f %% of the program's work was done. "
		"The labels ending in _low and _high are the ends of intervals of 90 %%.",
		interval->windows, interval->share * 100);
	profile_comment(profile, "stacks with live bytes: %zu; the largest of them are here: %zu", interval->stacks,
			interval->count);
	if (interval->heap_bytes >= 0)
		profile_comment(profile, "heap: %.0f bytes in use, %.0f when the watch began, %.0f of no stack here",
				interval->heap_bytes, interval->before, interval->unattributed);
	if (interval->lost >= 0)
		profile_comment(profile, "lost: %.0f bytes, of all stacks", interval->lost);
	profile_comment(profile, "calls are seen by: %s; seen: %" PRIu64 "; in windows, but not seen: %" PRIu64,
			interval->way ? interval->way : "?", interval->calls, interval->unseen);
	profile_comment(
		profile,
		"cost: %.2f %% of a CPU in the program, %.2f %% in functrace, of a budget of %.2f %%; longest pause "
		"%.3f ms",
		cost->target * 100, cost->own * 100, cost->budget * 100, (double)cost->longest_ns / 1e6);
	profile_comment(profile, "process: %d, %s on %s", (int)interval->pid,
			interval->program ? interval->program : "?", interval->host ? interval->host : "?");
}

int interval_profile_write(const struct watch_interval *interval, bool is_unsigned, FILE *out)
{
	struct interval_profile profile = {.build = pprof_build_new(), .is_unsigned = is_unsigned};
	const uint64_t duration = interval->end_ns > interval->begin_ns ? interval->end_ns - interval->begin_ns : 0;

	pprof_build_figures(profile.build, interval_figures, FIGURES, "inuse_space");
	pprof_build_times(profile.build, pprof_clamp(interval->begin_ns), pprof_clamp(duration));
	profile_add_comments(&profile, interval);
	if (interval->program)
		pprof_build_mapping(profile.build, interval->program, interval->build_id, 0);
	for (size_t i = 0; i < interval->count; i++)
		profile_add_row(&profile, &interval->rows[i], (double)duration / (double)NS_PER_SECOND);
	profile_add_rest(&profile, "[older than the watch, or not attributed]", interval->unattributed);
	const int error = pprof_build_write(profile.build, out);

	pprof_build_free(profile.build);
	hash_free(&profile.location_of);
	free(profile.places);
	buf_free(&profile.room);
	return error;
}
