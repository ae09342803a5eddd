/* Writes a heap profile in the format of gperftools' profiler, for google-pprof: for each stack the live and the
 * allocated blocks and bytes of memory. As in the output of google-pprof --raw, the file contains the names, so the
 * addresses in it need not be real. They are even numbers for places of code, odd ones for functions whose callers are
 * unknown. */
#include "config.h"
#include "export/export.h"
#include "export/locations.h"

#include <inttypes.h>

struct gperftools {
	struct places places;
	struct hash called; /* interned name of a function whose callers are unknown -> its odd number */
	struct buf names, stacks, room;
	struct tally live, allocated; /* sums over all stacks */
};

/* Appends a name without two hyphens in a row, because in the format "--" precedes the name of an inlined function. */
static void gperftools_add_name(struct buf *names, const char *name)
{
	const size_t begin = names->size;

	plain_add(names, name);
	for (size_t i = begin + 1; i < names->size; i++)
		if (names->data[i] == '-' && names->data[i - 1] == '-')
			names->data[i] = '_';
}

static uint64_t called_number(struct gperftools *gperftools, const char *function)
{
	uint64_t *const number = hash_place(&gperftools->called, (uintptr_t)function);

	if (!*number) {
		*number = 2 * gperftools->called.count - 1;
		/* Without the brackets google-pprof would leave out a plain malloc, and the whole stack with it. */
		buf_printf(&gperftools->names, "0x%" PRIx64 " [", *number);
		gperftools_add_name(&gperftools->names, function);
		buf_add_str(&gperftools->names, "]\n");
	}
	return *number;
}

static void add_place_names(struct gperftools *gperftools)
{
	struct buf *const names = &gperftools->names;

	for (size_t i = 0; i < gperftools->places.count; i++) {
		const struct location *const place = &gperftools->places.items[i];

		buf_printf(names, "0x%zx", 2 * (i + 1));
		for (size_t k = place->count; k-- > 0;) {
			buf_add_str(names, k + 1 < place->count ? "--" : " ");
			gperftools_add_name(names, export_frame_name(place->frames[k], &gperftools->room));
		}
		buf_add_char(names, '\n');
	}
}

static void add_tallies(struct buf *out, const struct tally *live, const struct tally *allocated)
{
	buf_printf(out, "%" PRIu64 ": %" PRIu64 " [%" PRIu64 ": %" PRIu64 "] @", live->calls, live->bytes,
		   allocated->calls, allocated->bytes);
}

static void gperftools_add_stack(struct gperftools *gperftools, const struct profile_group *group)
{
	struct buf *const stacks = &gperftools->stacks;
	const struct tally live = export_tally_of(group, WEIGHT_LIVE);
	const struct tally allocated = export_tally_of(group, WEIGHT_ALLOCATED);

	if (!allocated.calls && !live.calls && !live.bytes && !allocated.bytes)
		return;
	tally_join(&gperftools->live, &live);
	tally_join(&gperftools->allocated, &allocated);
	add_tallies(stacks, &live, &allocated);
	for (uint32_t i = 0; i < group->frame_count;)
		buf_printf(stacks, " 0x%zx", 2 * (places_next(&gperftools->places, group, &i) + 1));
	if (!group->frame_count)
		buf_printf(stacks, " 0x%" PRIx64, called_number(gperftools, group->function));
	buf_add_char(stacks, '\n');
}

static int gperftools_write(const struct profile *profile, const struct export_options *options, FILE *out)
{
	const struct profile_resource *const memory = export_memory(profile);
	struct gperftools gperftools = {0};
	struct buf head = {0};

	(void)options;
	for (size_t i = 0; i < profile->group_count; i++)
		if (profile->groups[i]->resource == memory)
			gperftools_add_stack(&gperftools, profile->groups[i]);
	add_place_names(&gperftools);
	buf_add_str(&head, "--- symbol\nbinary=");
	plain_add(&head, profile_first_account(profile)->name);
	buf_add_char(&head, '\n');
	buf_add(&head, gperftools.names.data, gperftools.names.size);
	buf_add_str(&head, "---\nheap profile: ");
	add_tallies(&head, &gperftools.live, &gperftools.allocated);
	/* Without this word google-pprof would take the figures for samples. */
	buf_add_str(&head, " heapprofile\n");
	buf_write(&head, out);
	buf_write(&gperftools.stacks, out);
	places_free(&gperftools.places);
	hash_free(&gperftools.called);
	buf_free(&gperftools.names);
	buf_free(&gperftools.stacks);
	buf_free(&gperftools.room);
	buf_free(&head);
	return 0;
}

const struct export export_gperftools = {
	.name = "gperftools",
	.suffix = ".heap",
	.compares = true,
	.write = gperftools_write,
};
