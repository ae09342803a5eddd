#include "config.h"
#include "watch/watch_data.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* Feeds a watch: windows, calls and looks. */

struct watch *watch_new(const struct watch_options *options, uint64_t now)
{
	struct watch *const w = xcalloc(1, sizeof(*w));

	w->options = *options;
	w->began = w->looked = now;
	w->stride = w->window_stride = 1;
	w->random = options->seed;
	return w;
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	hash_free(&w->samples_at);
	hash_free(&w->controls_at);
	hash_free(&w->class_index);
	free(w->windows);
	free(w->samples);
	free(w->controls);
	free(w->classes);
	free(w);
}

static struct sample *sample_at(const struct watch *w, uint64_t address)
{
	const uint64_t *const index = hash_get(&w->samples_at, address);

	return index ? &w->samples[*index] : NULL;
}

/* Returns the index of a size class. Its chunks are counted from the next look on. */
static uint32_t class_number_of(struct watch *w, uint32_t size_class)
{
	const uint64_t *const index = hash_get(&w->class_index, size_class);

	if (index)
		return (uint32_t)*index;
	ARRAY_GROW(w->classes, w->class_capacity, w->class_count);
	w->classes[w->class_count] = (struct census){.size_class = size_class, .since = w->looks + 1};
	hash_set(&w->class_index, size_class, w->class_count);
	return (uint32_t)w->class_count++;
}

static struct track track_begin(const struct watch *w, uint64_t now, uint64_t address, uint32_t class_number,
				uint32_t stack)
{
	return (struct track){.address = address,
			      .time = now,
			      .stack = stack,
			      .class_number = class_number,
			      .window = (uint32_t)w->window_count - 1,
			      .first = (uint16_t)w->looks,
			      .count = 1};
}

/* ---- Controls ---- */

/* Lets the controls of an address fail that are from earlier windows: a call in this window shows that the chunk there
 * has changed. */
static void fail_controls(struct watch *w, uint64_t address)
{
	uint32_t next, i = watch_first_control(w, address);

	if (i == NO_CONTROL)
		return;
	hash_remove(&w->controls_at, address, NULL);
	for (; i != NO_CONTROL; i = next) {
		next = w->controls[i].next;
		if (w->controls[i].track.window + 1 == w->window_count)
			watch_list_control(w, i);
		else
			w->controls[i].track.has_failed = true;
	}
}

static void add_control(struct watch *w, const struct track *track)
{
	unsigned count = 0;

	/* An address that is released again and again in a window counts once for each stack. */
	for (uint32_t i = watch_first_control(w, track->address); i != NO_CONTROL; i = w->controls[i].next) {
		const struct track *const other = &w->controls[i].track;

		if (++count == CONTROLS_AT ||
		    (other->stack == track->stack && other->class_number == track->class_number))
			return;
	}
	ARRAY_GROW(w->controls, w->control_capacity, w->control_count);
	w->controls[w->control_count] = (struct control){.track = *track};
	watch_list_control(w, (uint32_t)w->control_count++);
}

/* ---- Calls ---- */

void watch_allocated(struct watch *w, uint64_t now, uint64_t address, uint64_t size, uint32_t size_class,
		     uint32_t stack)
{
	if (!w->is_open)
		return;
	struct sample *const before = sample_at(w, address);

	fail_controls(w, address);
	if (before)
		before->fate = FATE_REUSED;
	ARRAY_GROW(w->samples, w->sample_capacity, w->sample_count);
	w->samples[w->sample_count] =
		(struct sample){.track = track_begin(w, now, address, class_number_of(w, size_class), stack),
				.size = size,
				.is_same = true};
	hash_set(&w->samples_at, address, w->sample_count++);
}

void watch_released(struct watch *w, uint64_t now, uint64_t address, uint32_t size_class)
{
	if (!w->is_open)
		return;
	struct sample *const sample = sample_at(w, address);

	fail_controls(w, address);
	if (!sample && !size_class)
		return;
	const struct track track =
		track_begin(w, now, address, sample ? sample->track.class_number : class_number_of(w, size_class),
			    sample ? sample->track.stack : NO_STACK);

	if (sample) {
		sample->fate = sample->track.window == track.window ? FATE_DIED_IN_WINDOW : FATE_RELEASED_LATER;
		sample->died = now;
		hash_remove(&w->samples_at, address, NULL);
	}
	if (w->classes[track.class_number].size_class)
		add_control(w, &track);
}

/* ---- Windows ---- */

void watch_window_begin(struct watch *w, uint64_t now, uint64_t work)
{
	if (++w->windows_skipped < w->window_stride)
		return;
	w->windows_skipped = 0;
	watch_make_room(w);
	ARRAY_GROW(w->windows, w->window_capacity, w->window_count);
	w->windows[w->window_count++] = (struct window){.begin = now, .end = now, .before = work};
	w->is_open = true;
}

/* Notes the contents of the blocks that the last window has sampled. */
static void note_prints(struct watch *w, const struct watch_heap *heap)
{
	for (size_t i = w->sample_count; i-- > 0 && w->samples[i].track.window + 1 == w->window_count;) {
		struct sample *const sample = &w->samples[i];
		struct watch_chunk chunk = {.size = sample->size};

		if (sample->fate == FATE_PASSED && heap->chunk_at(heap->context, sample->track.address, &chunk))
			sample->print = chunk.print;
	}
}

void watch_window_end(struct watch *w, uint64_t now, uint64_t work, const struct watch_heap *heap)
{
	if (!w->is_open)
		return;
	struct window *const window = &w->windows[w->window_count - 1];

	window->end = now;
	window->work = work - window->before;
	w->is_open = false;
	watch_thin_window(w);
	if (heap)
		note_prints(w, heap);
}

/* ---- Looks ---- */

/* Sets the track's numbers to those that it would have if each odd look had not been made. */
static void merge_track(struct track *track)
{
	const unsigned last = track->first + track->passed, first = track->first / 2u;

	track->passed = (uint16_t)(last / 2 - first);
	track->first = (uint16_t)first;
}

/* Forgets every second look. */
static void merge_looks(struct watch *w)
{
	for (size_t i = 0; i < w->sample_count; i++)
		merge_track(&w->samples[i].track);
	for (size_t i = 0; i < w->control_count; i++)
		merge_track(&w->controls[i].track);
	for (size_t i = 0; i < w->class_count; i++) {
		struct census *const census = &w->classes[i];

		census->since = (census->since + 1) / 2;
		for (unsigned k = census->since; k <= w->looks / 2; k++)
			census->counts[k] = census->counts[2 * k];
	}
	w->looks /= 2;
	w->stride *= 2;
}

static bool is_still_there(const struct watch *w, const struct track *track, const struct watch_heap *heap,
			   struct watch_chunk *chunk)
{
	const uint32_t size_class = w->classes[track->class_number].size_class;

	chunk->size_class = size_class;
	return heap->chunk_at(heap->context, track->address, chunk) && (!size_class || chunk->size_class == size_class);
}

/* Returns true if the track's window is open. The look then came before it. */
static bool is_too_new(const struct watch *w, struct track *track)
{
	const bool is_new = w->is_open && track->window + 1 == w->window_count;

	if (is_new)
		track->first = (uint16_t)w->looks;
	return is_new;
}

static void look_at_samples(struct watch *w, const struct watch_heap *heap)
{
	for (size_t i = 0; i < w->sample_count; i++) {
		struct sample *const sample = &w->samples[i];

		if (is_too_new(w, &sample->track) || sample->fate != FATE_PASSED)
			continue;
		struct watch_chunk chunk = {.size = sample->size, .print = sample->print};

		if (!is_still_there(w, &sample->track, heap, &chunk)) {
			sample->fate = FATE_MISSED;
			hash_remove(&w->samples_at, sample->track.address, NULL);
			continue;
		}
		sample->is_same &= sample->print && chunk.print == sample->print;
		if (!sample->track.passed++)
			sample->is_same_first = sample->is_same;
		/* What a scan has called lost stays so: no pointer to it can come again. */
		if (heap->is_lost)
			sample->track.is_lost = heap->is_lost(heap->context, sample->track.address);
	}
}

static void look_at_controls(struct watch *w, const struct watch_heap *heap)
{
	for (size_t i = 0; i < w->control_count; i++) {
		struct track *const track = &w->controls[i].track;
		struct watch_chunk chunk = {0};

		if (is_too_new(w, track) || track->has_failed)
			continue;
		track->has_failed = !is_still_there(w, track, heap, &chunk);
		track->passed += !track->has_failed;
		if (track->has_failed || heap->is_lost)
			track->is_lost = !track->has_failed && heap->is_lost(heap->context, track->address);
	}
}

static void count_classes(struct watch *w, const struct watch_heap *heap)
{
	for (size_t i = 0; i < w->class_count; i++) {
		struct census *const census = &w->classes[i];

		census->counts[w->looks] = heap->count ? heap->count(heap->context, census->size_class) : 0;
		if (heap->lost_count)
			census->lost = heap->lost_count(heap->context, census->size_class);
	}
}

/* Notes what a scan has found in a look that does not count otherwise: scans are rare, and a lost block stays lost. */
static void look_for_lost(struct watch *w, const struct watch_heap *heap)
{
	for (size_t i = 0; i < w->sample_count; i++) {
		struct sample *const sample = &w->samples[i];
		struct watch_chunk chunk = {.size = sample->size, .print = sample->print};

		if (!is_too_new(w, &sample->track) && sample->fate == FATE_PASSED && sample->track.passed &&
		    is_still_there(w, &sample->track, heap, &chunk))
			sample->track.is_lost = heap->is_lost(heap->context, sample->track.address);
	}
	for (size_t i = 0; i < w->control_count; i++) {
		struct track *const track = &w->controls[i].track;
		struct watch_chunk chunk = {0};

		if (!is_too_new(w, track) && !track->has_failed && is_still_there(w, track, heap, &chunk))
			track->is_lost = heap->is_lost(heap->context, track->address);
	}
	for (size_t i = 0; heap->lost_count && i < w->class_count; i++)
		w->classes[i].lost = heap->lost_count(heap->context, w->classes[i].size_class);
}

void watch_look(struct watch *w, uint64_t now, uint64_t work, const struct watch_heap *heap)
{
	/* After every second look was forgotten, only each stride-th look counts. */
	const bool counts = ++w->skipped >= w->stride;

	if (counts && w->looks == LOOKS_MAX)
		merge_looks(w);
	else if (counts)
		w->skipped = 0;
	if (w->skipped) {
		if (heap->is_lost)
			look_for_lost(w, heap);
		return;
	}
	w->looks++;
	w->looked = now;
	w->looked_work = work;
	w->has_counts = heap->count != NULL;
	look_at_samples(w, heap);
	look_at_controls(w, heap);
	watch_list_controls(w);
	count_classes(w, heap);
}
