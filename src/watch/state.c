#include "config.h"
#include "watch/state.h"
#include "watch/watch_data.h"
#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes a watch as bytes, and reads it again. The bytes are for the same build of functrace: their layout is that of
 * the structs in memory, and the head says of which sizes these are. */

struct state_head {
	char version[32];
	uint32_t sizes[4]; /* of the structs below */
	uint64_t began, looked, looked_work;
	uint64_t window_count, sample_count, control_count, class_count;
	uint32_t window_stride, windows_skipped, looks, stride, skipped, has_counts;
};

static void set_version(struct state_head *head)
{
	snprintf(head->version, sizeof(head->version), "functrace watch 2 %s", PACKAGE_VERSION);
	head->sizes[0] = sizeof(struct window);
	head->sizes[1] = sizeof(struct sample);
	head->sizes[2] = sizeof(struct control);
	head->sizes[3] = sizeof(struct census);
}

void watch_save(const struct watch *w, struct buf *out)
{
	struct state_head head = {.began = w->began,
				  .looked = w->looked,
				  .looked_work = w->looked_work,
				  .window_count = w->window_count,
				  .sample_count = w->sample_count,
				  .control_count = w->control_count,
				  .class_count = w->class_count,
				  .window_stride = w->window_stride,
				  .windows_skipped = w->windows_skipped,
				  .looks = w->looks,
				  .stride = w->stride,
				  .skipped = w->skipped,
				  .has_counts = w->has_counts};

	set_version(&head);
	buf_add(out, &head, sizeof(head));
	buf_add(out, w->windows, w->window_count * sizeof(*w->windows));
	buf_add(out, w->samples, w->sample_count * sizeof(*w->samples));
	buf_add(out, w->controls, w->control_count * sizeof(*w->controls));
	buf_add(out, w->classes, w->class_count * sizeof(*w->classes));
}

/* Copies an array of `count` items, and moves *from behind it. Returns NULL if there are too few bytes. */
static void *load_array(const unsigned char **from, size_t *left, uint64_t count, size_t size)
{
	if (count > *left / size)
		return NULL;
	void *const items = xreallocarray(NULL, (size_t)count + 1, size);

	memcpy(items, *from, (size_t)count * size);
	*from += count * size;
	*left -= (size_t)count * size;
	return items;
}

/* A byte of a bool may have another value in a damaged file. */
static void set_bool(bool *value)
{
	unsigned char byte;

	memcpy(&byte, value, 1);
	*value = byte & 1;
}

static bool is_sound_track(const struct watch *w, struct track *track, uint32_t stacks)
{
	set_bool(&track->has_failed);
	set_bool(&track->is_lost);
	return track->class_number < w->class_count && track->window < w->window_count &&
	       (track->stack < stacks || track->stack == NO_STACK) && track->first <= w->looks &&
	       track->passed <= w->looks - track->first && track->count >= 1 && track->count <= 1e9f;
}

static bool is_sound_state(struct watch *w, uint32_t stacks)
{
	bool is_sound = w->looks <= LOOKS_MAX && w->stride && w->window_stride && w->window_count <= WINDOWS_MAX;

	for (size_t i = 0; i < w->sample_count && is_sound; i++) {
		struct sample *const sample = &w->samples[i];

		set_bool(&sample->is_same_first);
		set_bool(&sample->is_same);
		is_sound = is_sound_track(w, &sample->track, stacks) && sample->track.stack != NO_STACK &&
			   sample->fate <= FATE_RELEASED_LATER;
	}
	for (size_t i = 0; i < w->control_count && is_sound; i++)
		is_sound = is_sound_track(w, &w->controls[i].track, stacks);
	for (size_t i = 0; i < w->class_count && is_sound; i++)
		is_sound = w->classes[i].since <= w->looks + 1;
	return is_sound;
}

struct watch *watch_load(const void *bytes, size_t size, const struct watch_options *options, uint32_t stacks)
{
	const unsigned char *from = bytes;
	struct state_head head, ours = {.version = ""};

	set_version(&ours);
	if (size < sizeof(head))
		return NULL;
	memcpy(&head, from, sizeof(head));
	from += sizeof(head);
	size -= sizeof(head);
	if (memcmp(head.version, ours.version, sizeof(head.version)) != 0 ||
	    memcmp(head.sizes, ours.sizes, sizeof(head.sizes)) != 0)
		return NULL;
	struct watch *const w = watch_new(options, head.began);

	w->looked = head.looked;
	w->looked_work = head.looked_work;
	w->window_stride = head.window_stride;
	w->windows_skipped = head.windows_skipped;
	w->looks = head.looks;
	w->stride = head.stride;
	w->skipped = head.skipped;
	w->has_counts = head.has_counts;
	w->window_count = w->window_capacity = (size_t)head.window_count;
	w->sample_count = w->sample_capacity = (size_t)head.sample_count;
	w->control_count = w->control_capacity = (size_t)head.control_count;
	w->class_count = w->class_capacity = (size_t)head.class_count;
	const bool is_whole = (w->windows = load_array(&from, &size, head.window_count, sizeof(*w->windows))) &&
			      (w->samples = load_array(&from, &size, head.sample_count, sizeof(*w->samples))) &&
			      (w->controls = load_array(&from, &size, head.control_count, sizeof(*w->controls))) &&
			      (w->classes = load_array(&from, &size, head.class_count, sizeof(*w->classes))) && !size;

	if (is_whole && is_sound_state(w, stacks)) {
		watch_index(w);
		return w;
	}
	watch_free(w);
	return NULL;
}
