/* Writes a file in speedscope's format (www.speedscope.app/file-format-schema.json): the stacks of each kind of
 * resource as a profile of weighted samples. The frames of a sample begin at the root. */
#include "config.h"
#include "export/export.h"

#include <inttypes.h>
#include <stdlib.h>

/* Adds the allocating functions to the file's list of frames, after the frames of the stacks. Returns a map from a
 * function's name to 1 + its number in the list, which the caller frees. */
static struct hash add_called(const struct profile *profile, FILE *out)
{
	struct hash number_of = {0};

	for (size_t i = 0; i < profile->group_count; i++) {
		const char *const function = profile->groups[i]->function;
		uint64_t *const number = hash_place(&number_of, (uintptr_t)function);

		if (!*number) {
			*number = profile->frame_count + number_of.count;
			fputs(*number > 1 ? "," : "", out);
			export_print_json(out, "\n{\"name\":", function);
			fputc('}', out);
		}
	}
	return number_of;
}

/* Adds all frames, then calls add_called(), and returns its map. */
static struct hash speedscope_add_frames(const struct profile *profile, FILE *out)
{
	struct buf room = {0};

	for (size_t i = 0; i < profile->frame_count; i++) {
		const struct profile_frame *frame = profile->frames[i];

		fputs(i ? "," : "", out);
		export_print_json(out, "\n{\"name\":", export_frame_name(frame, &room));
		if (frame->file || frame->module)
			export_print_json(out, ",\"file\":", frame->file ? frame->file : frame->module);
		if (frame->file && frame->line)
			fprintf(out, ",\"line\":%u", frame->line);
		fputc('}', out);
	}
	buf_free(&room);
	return add_called(profile, out);
}

static void add_profile(const struct profile *profile, const struct profile_resource *resource,
			const struct hash *called, enum export_weight weight, FILE *out)
{
	static const char *const names[] = {"live", "allocated", "at the peak", "calls", "lost"};
	char *const name =
		xasprintf("%s: %s%s", resource->type, names[weight], profile->has_old ? ", more than before" : "");
	struct buf weights = {0}; /* of the samples so far, separated by commas */
	uint64_t sum = 0;

	export_print_json(out, "{\"type\":\"sampled\",\"name\":", name);
	free(name);
	fprintf(out, ",\"unit\":\"%s\",\"samples\":[", weight == WEIGHT_COUNT ? "none" : "bytes");
	for (size_t i = 0; i < profile->group_count; i++) {
		const struct profile_group *group = profile->groups[i];
		const uint64_t figure = group->resource == resource ? export_weight_of(group, weight) : 0;
		const char *const separator = weights.size ? "," : "";

		if (!figure)
			continue;
		fprintf(out, "%s\n[", separator);
		for (uint32_t k = group->frame_count; k-- > 0;)
			fprintf(out, "%zu,", group->frames[k]->number);
		fprintf(out, "%" PRIu64 "]", *hash_get(called, (uintptr_t)group->function) - 1);
		buf_printf(&weights, "%s%" PRIu64, separator, figure);
		sum = add_saturated(sum, figure);
	}
	fputs("],\"weights\":[", out);
	buf_write(&weights, out);
	buf_free(&weights);
	fprintf(out, "],\"startValue\":0,\"endValue\":%" PRIu64 "}", sum);
}

static int speedscope_write(const struct profile *profile, const struct export_options *options, FILE *out)
{
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	      "\"exporter\":\"functrace " PACKAGE_VERSION "\",\n\"shared\":{\"frames\":[",
	      out);
	struct hash called = speedscope_add_frames(profile, out);

	fputs("]},\n\"profiles\":[", out);
	for (size_t i = 0; i < profile->resource_count; i++) {
		fputs(i ? ",\n" : "\n", out);
		add_profile(profile, profile->resources[i], &called, options->weight, out);
	}
	hash_free(&called);
	fputs("]}\n", out);
	return 0;
}

const struct export export_speedscope = {
	.name = "speedscope",
	.suffix = ".speedscope.json",
	.is_weighted = true,
	.compares = true,
	.write = speedscope_write,
};
