#include "config.h"
#include "watch/watch_data.h"

/* The tables of samples and controls by address. */

uint32_t watch_first_control(const struct watch *w, uint64_t address)
{
	const uint64_t *const first = hash_get(&w->controls_at, address);

	return first ? (uint32_t)*first : NO_CONTROL;
}

void watch_list_control(struct watch *w, uint32_t index)
{
	struct control *const control = &w->controls[index];

	control->next = watch_first_control(w, control->track.address);
	hash_set(&w->controls_at, control->track.address, index);
}

void watch_list_controls(struct watch *w)
{
	hash_free(&w->controls_at);
	w->controls_at = (struct hash){0};
	for (uint32_t i = 0; i < w->control_count; i++)
		if (!w->controls[i].track.has_failed)
			watch_list_control(w, i);
}

void watch_index(struct watch *w)
{
	hash_free(&w->samples_at);
	hash_free(&w->class_index);
	w->samples_at = w->class_index = (struct hash){0};
	for (size_t i = 0; i < w->sample_count; i++)
		if (w->samples[i].fate == FATE_PASSED)
			hash_set(&w->samples_at, w->samples[i].track.address, i);
	for (size_t i = 0; i < w->class_count; i++)
		hash_set(&w->class_index, w->classes[i].size_class, i);
	watch_list_controls(w);
}
