#include "config.h"
#include "watch/watch_data.h"
#include "base/util.h"

#include <stdlib.h>

/* Forgets samples and controls, so that the memory of a watch is bounded. */

#define MANY         256  /* samples of a stack, or controls, of which half can be forgotten, */
#define MANY_TELLING 2048 /* and samples that look alive, as those give the estimate */
#define ROOM_MIN     0.1  /* share of samples_max that has to be free afterwards, else windows are forgotten */

/* Returns true for `most` of `count` items, chosen at random. */
static bool is_chosen(struct watch *w, uint64_t count, uint64_t most)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return count <= most || (w->random >> 33) % count < most;
}

/* Of the blocks that were released in the window of their allocation, only the lives matter, and of each stack some
 * tell as much as all. So do some controls. The others would take the room of whole windows. */
void watch_thin_window(struct watch *w)
{
	const uint32_t window = (uint32_t)w->window_count - 1;
	struct hash died = {0}, released = {0};
	size_t first = w->sample_count, first_control = w->control_count, kept;

	while (first && w->samples[first - 1].track.window == window)
		if (w->samples[--first].fate == FATE_DIED_IN_WINDOW)
			++*hash_place(&died, w->samples[first].track.stack);
	kept = first;
	for (size_t i = first; i < w->sample_count; i++) {
		const struct sample *const sample = &w->samples[i];

		if (sample->fate == FATE_DIED_IN_WINDOW &&
		    !is_chosen(w, *hash_get(&died, sample->track.stack), DIED_KEPT))
			continue;
		if (sample->fate == FATE_PASSED)
			hash_set(&w->samples_at, sample->track.address, kept);
		w->samples[kept++] = *sample;
	}
	w->sample_count = kept;
	while (first_control && w->controls[first_control - 1].track.window == window)
		++*hash_place(&released, w->controls[--first_control].track.stack);
	kept = first_control;
	for (size_t i = first_control; i < w->control_count; i++)
		if (is_chosen(w, *hash_get(&released, w->controls[i].track.stack), CONTROLS_KEPT))
			w->controls[kept++] = w->controls[i];
	if (kept < w->control_count) {
		w->control_count = kept;
		watch_list_controls(w);
	}
	hash_free(&died);
	hash_free(&released);
}

/* Of the samples of a stack, those that look alive and have their contents tell most. */
static bool is_telling(const struct sample *sample)
{
	const bool has_changed = sample->print && sample->track.passed && !sample->is_same && !sample->track.is_lost;

	return sample->fate == FATE_PASSED && !has_changed;
}

/* The key of a stack's samples that tell as much as each other. */
static uint64_t sort_of(const struct sample *sample)
{
	return (uint64_t)sample->track.stack << 1 | is_telling(sample);
}

/* Returns true if the track is kept. If its stack has `many` tracks or more, half of them, chosen at random, are not
 * kept, and each of the others counts twice as much as before. */
static bool keep_of_many(struct watch *w, uint64_t count, uint64_t many, struct track *track)
{
	if (count < many)
		return true;
	if (!is_chosen(w, 2, 1))
		return false;
	track->count *= 2;
	return true;
}

static void halve_samples(struct watch *w)
{
	struct hash counts = {0};
	size_t kept = 0;

	for (size_t i = 0; i < w->sample_count; i++)
		++*hash_place(&counts, sort_of(&w->samples[i]));
	for (size_t i = 0; i < w->sample_count; i++) {
		const uint64_t many = is_telling(&w->samples[i]) ? MANY_TELLING : MANY;

		if (keep_of_many(w, *hash_get(&counts, sort_of(&w->samples[i])), many, &w->samples[i].track))
			w->samples[kept++] = w->samples[i];
	}
	w->sample_count = kept;
	hash_free(&counts);
}

static void halve_controls(struct watch *w)
{
	struct hash counts = {0};
	size_t kept = 0;

	for (size_t i = 0; i < w->control_count; i++)
		++*hash_place(&counts, w->controls[i].track.stack);
	for (size_t i = 0; i < w->control_count; i++)
		if (keep_of_many(w, *hash_get(&counts, w->controls[i].track.stack), MANY, &w->controls[i].track))
			w->controls[kept++] = w->controls[i];
	w->control_count = kept;
	hash_free(&counts);
}

/* Keeps the windows for which the new number is not UINT32_MAX, and their samples and controls. */
static void keep_windows(struct watch *w, const uint32_t *numbers)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->sample_count; i++) {
		struct sample *const sample = &w->samples[kept];

		if (numbers[w->samples[i].track.window] == UINT32_MAX)
			continue;
		*sample = w->samples[i];
		sample->track.window = numbers[sample->track.window];
		kept++;
	}
	w->sample_count = kept;
	kept = 0;
	for (size_t i = 0; i < w->control_count; i++) {
		const uint32_t number = numbers[w->controls[i].track.window];

		if (number == UINT32_MAX)
			continue;
		w->controls[kept] = w->controls[i];
		w->controls[kept++].track.window = number;
	}
	w->control_count = kept;
}

/* Forgets every second window. The others still represent all of the time. From then on every second new window is
 * skipped, so that no time has more windows than another. If there is only one window, it alone has too many samples,
 * and is forgotten. */
static void thin_windows(struct watch *w)
{
	uint32_t *const numbers = xreallocarray(NULL, w->window_count, sizeof(*numbers));
	const unsigned odd = w->window_count == 1;
	uint32_t kept = 0;

	for (size_t i = 0; i < w->window_count; i++) {
		numbers[i] = (i + odd) % 2 ? UINT32_MAX : kept++;
		if (numbers[i] != UINT32_MAX)
			w->windows[numbers[i]] = w->windows[i];
	}
	if (!odd)
		w->window_stride *= 2;
	w->window_count = kept;
	keep_windows(w, numbers);
	watch_index(w);
	free(numbers);
}

static size_t track_count(const struct watch *w)
{
	return w->sample_count + w->control_count;
}

void watch_make_room(struct watch *w)
{
	const size_t most = w->options.samples_max;
	const bool is_full = track_count(w) > most;

	if (is_full) {
		halve_samples(w);
		halve_controls(w);
		watch_index(w);
	}
	while (w->window_count && (w->window_count >= WINDOWS_MAX || track_count(w) > most ||
				   (is_full && (double)track_count(w) > (double)most * (1 - ROOM_MIN))))
		thin_windows(w);
}
