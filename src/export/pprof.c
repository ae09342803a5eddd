/* Writes a profile for pprof, compressed by gzip: for each stack the allocated and the live blocks and bytes of memory.
 * Only memory is written. */
#include "config.h"
#include "export/export.h"

#ifdef HAVE_PROTOBUF_C

#include "base/msg.h"
#include "export/locations.h"
#include "export/pprof_build.h"
#include "base/time_units.h"

#include <stdlib.h>

struct pprof {
	struct pprof_build *build;
	struct places places;
	struct hash location_of; /* number of a place, or of a function without a stack -> id */
	struct buf room;
};

/* Returns the id of the mapping that contains the frame; 0 if there is none. */
static uint64_t mapping_id(struct pprof *pprof, const struct profile_frame *frame)
{
	if (!frame->module || !frame->address)
		return 0;
	const uint64_t call = frame->address - 1;
	/* If the frame has no offset, the object's first address is unknown. */
	const uint64_t from = frame->offset ? call - frame->offset : 0;
	const uint64_t id = pprof_build_mapping(pprof->build, frame->module, frame->build_id, from);

	/* Profiles do not contain the end of an object, so the mapping ends after the highest frame in it. */
	if (from)
		pprof_build_cover(pprof->build, id, call);
	return id;
}

/* Returns the id of the location for a place. The id is not the place's number, because calls without a stack have
 * locations, too. */
static uint64_t location_id(struct pprof *pprof, size_t number)
{
	uint64_t *const id = hash_place(&pprof->location_of, number);

	if (*id)
		return *id;
	const struct location *const place = &pprof->places.items[number];
	const struct profile_frame *const outer = place->frames[place->count - 1];
	struct pprof_line *const lines = xcalloc(place->count, sizeof(*lines));
	const uint64_t mapping = mapping_id(pprof, outer);

	for (size_t i = 0; i < place->count; i++) {
		const struct profile_frame *const frame = place->frames[i];

		lines[i].function =
			pprof_build_function(pprof->build, export_frame_name(frame, &pprof->room), frame->file);
		lines[i].number = frame->line;
	}
	*id = pprof_build_location(pprof->build, mapping, export_call_address(outer->address), lines, place->count);
	free(lines);
	return *id;
}

/* Returns the id of a location that names the allocating function, for an allocation without a stack. */
static uint64_t stackless_id(struct pprof *pprof, const char *name)
{
	const struct pprof_line line = {.function = pprof_build_function(pprof->build, name, NULL)};
	uint64_t *const id = hash_place(&pprof->location_of, line.function | UINT64_C(1) << 63);

	if (!*id)
		*id = pprof_build_location(pprof->build, 0, 0, &line, 1);
	return *id;
}

/* Returns the growth, which may be negative; without a comparison `old` is 0. */
static int64_t pprof_difference(uint64_t now, uint64_t old)
{
	return pprof_clamp(now) - pprof_clamp(old);
}

static void add_sample(struct pprof *pprof, const struct profile_group *group)
{
	const int64_t values[] = {
		pprof_difference(group->allocated.calls, group->old.allocated.calls),
		pprof_difference(group->allocated.bytes, group->old.allocated.bytes),
		pprof_difference(group->live.calls, group->old.live.calls),
		pprof_difference(group->live.bytes, group->old.live.bytes),
	};
	uint64_t *const locations = xcalloc(group->frame_count + 1, sizeof(*locations));
	size_t count = 0;

	for (uint32_t i = 0; i < group->frame_count;)
		locations[count++] = location_id(pprof, places_next(&pprof->places, group, &i));
	if (!group->frame_count)
		locations[count++] = stackless_id(pprof, group->function);
	pprof_build_sample(pprof->build, locations, count, values);
	pprof_build_label(pprof->build, "function", group->function);
	free(locations);
}

/* Adds the program's mapping as the first one, because pprof takes the first mapping for that of the program. */
static void add_program(struct pprof *pprof, const struct profile *profile)
{
	const char *const path = profile_first_account(profile)->name;

	for (size_t i = 0; i < profile->frame_count; i++)
		if (profile->frames[i]->module && !strcmp(profile->frames[i]->module, path)) {
			mapping_id(pprof, profile->frames[i]);
			return;
		}
	pprof_build_mapping(pprof->build, path, NULL, 0);
}

static void add_head(struct pprof *pprof, const struct profile *profile)
{
	static const struct pprof_figure figures[] = {{"alloc_objects", "count"},
						      {"alloc_space", "bytes"},
						      {"inuse_objects", "count"},
						      {"inuse_space", "bytes"}};

	pprof_build_figures(pprof->build, figures, ARRAY_SIZE(figures), "inuse_space");
	pprof_build_times(pprof->build,
			  profile->begin_sec > 0 && profile->begin_sec < INT64_MAX / (int64_t)NS_PER_SECOND
				  ? profile->begin_sec * (int64_t)NS_PER_SECOND
				  : 0,
			  profile->has_times ? pprof_clamp(profile->end_since) : 0);
	pprof_build_comment(pprof->build, "functrace " PACKAGE_VERSION);
	pprof_build_comment(pprof->build, export_command(profile_first_account(profile)));
	add_program(pprof, profile);
}

static int pprof_write(const struct profile *profile, const struct export_options *options, FILE *out)
{
	const struct profile_resource *const memory = export_memory(profile);
	struct pprof pprof = {.build = pprof_build_new()};

	(void)options;
	add_head(&pprof, profile);
	for (size_t i = 0; i < profile->group_count; i++)
		if (profile->groups[i]->resource == memory && !profile->groups[i]->is_uncompared)
			add_sample(&pprof, profile->groups[i]);
	const int error = pprof_build_write(pprof.build, out);

	if (error)
		msg_error("there is no memory left to compress the profile in");
	pprof_build_free(pprof.build);
	hash_free(&pprof.location_of);
	places_free(&pprof.places);
	buf_free(&pprof.room);
	return error;
}

#endif

const struct export export_pprof = {
	.name = "pprof",
	.suffix = ".pb.gz",
	.is_binary = true,
	.compares = true,
#ifdef HAVE_PROTOBUF_C
	.write = pprof_write,
#else
	.needs = "libprotobuf-c-dev and protobuf-c-compiler",
#endif
};
