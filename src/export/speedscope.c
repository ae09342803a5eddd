/* Writes speedscope's file format (www.speedscope.app/file-format-schema.json): the stacks of each resource as a
 * profile of weighted samples, each of which begins at the root. */
#include "config.h"
#include "base/json.h"
#include "export/export.h"

#include <inttypes.h>
#include <stdlib.h>

static void speedscope_flush(struct buf *text, FILE *out)
{
	fwrite(text->data, 1, text->size, out);
	text->size = 0;
}

/* Adds the called functions after the frames, each once. Returns the number of each group's function; the caller frees
 * the array. */
static size_t *add_called(const struct profile *profile, struct buf *text, FILE *out)
{
	size_t *const called = xcalloc(profile->group_count + 1, sizeof(*called));
	struct hash number_of = {0};

	for (size_t i = 0; i < profile->group_count; i++) {
		const char *const function = profile->groups[i]->function;
		uint64_t *const number = hash_place(&number_of, (uintptr_t)function);

		if (!*number) {
			*number = profile->frame_count + number_of.count;
			buf_add_str(text, *number > 1 ? ",\n{\"name\":" : "\n{\"name\":");
			json_add_string(text, function ? function : "?");
			buf_add_char(text, '}');
			speedscope_flush(text, out);
		}
		called[i] = *number - 1;
	}
	hash_free(&number_of);
	return called;
}

/* Returns as add_called(). */
static size_t *speedscope_add_frames(const struct profile *profile, struct buf *text, FILE *out)
{
	struct buf room = {0};

	for (size_t i = 0; i < profile->frame_count; i++) {
		const struct profile_frame *frame = profile->frames[i];

		buf_add_str(text, i ? ",\n{\"name\":" : "\n{\"name\":");
		json_add_string(text, export_frame_name(frame, &room));
		if (frame->file) {
			buf_add_str(text, ",\"file\":");
			json_add_string(text, frame->file);
			if (frame->line)
				buf_printf(text, ",\"line\":%u", frame->line);
		} else if (frame->module) {
			buf_add_str(text, ",\"file\":");
			json_add_string(text, frame->module);
		}
		buf_add_char(text, '}');
		speedscope_flush(text, out);
	}
	buf_free(&room);
	return add_called(profile, text, out);
}

static void add_profile(const struct profile *profile, const struct profile_resource *resource, const size_t *called,
			enum export_weight weight, struct buf *text, FILE *out)
{
	static const char *const names[] = {"live", "allocated", "at the peak", "calls", "lost"};
	struct buf name = {0};
	uint64_t sum = 0;
	bool is_first = true;

	buf_printf(&name, "%s: %s%s", resource->type, names[weight], profile->has_old ? ", more than before" : "");
	buf_add_str(text, "{\"type\":\"sampled\",\"name\":");
	json_add_string(text, buf_str(&name));
	buf_free(&name);
	buf_printf(text, ",\"unit\":\"%s\",\"samples\":[", weight == WEIGHT_COUNT ? "none" : "bytes");
	for (size_t i = 0; i < profile->group_count; i++) {
		const struct profile_group *group = profile->groups[i];

		if (group->resource != resource || !export_weight_of(group, weight))
			continue;
		buf_add_str(text, is_first ? "\n[" : ",\n[");
		is_first = false;
		for (uint32_t k = group->frame_count; k-- > 0;)
			buf_printf(text, "%zu,", group->frames[k]->number);
		buf_printf(text, "%zu]", called[i]);
		speedscope_flush(text, out);
	}
	buf_add_str(text, "],\"weights\":[");
	is_first = true;
	for (size_t i = 0; i < profile->group_count; i++) {
		const struct profile_group *group = profile->groups[i];
		const uint64_t figure = export_weight_of(group, weight);

		if (group->resource != resource || !figure)
			continue;
		buf_printf(text, "%s%" PRIu64, is_first ? "" : ",", figure);
		is_first = false;
		sum += figure;
		speedscope_flush(text, out);
	}
	buf_printf(text, "],\"startValue\":0,\"endValue\":%" PRIu64 "}", sum);
	speedscope_flush(text, out);
}

static int speedscope_write(const struct profile *profile, const struct export_options *options, FILE *out)
{
	struct buf text = {0};

	buf_add_str(&text, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
			   "\"exporter\":\"functrace " PACKAGE_VERSION "\",\n\"shared\":{\"frames\":[");
	size_t *const called = speedscope_add_frames(profile, &text, out);

	buf_add_str(&text, "]},\n\"profiles\":[");
	for (size_t i = 0; i < profile->resource_count; i++) {
		buf_add_str(&text, i ? ",\n" : "\n");
		add_profile(profile, profile->resources[i], called, options->weight, &text, out);
	}
	free(called);
	buf_add_str(&text, "]}\n");
	speedscope_flush(&text, out);
	buf_free(&text);
	return 0;
}

const struct export export_speedscope = {
	.name = "speedscope",
	.suffix = ".speedscope.json",
	.is_weighted = true,
	.compares = true,
	.write = speedscope_write,
};
