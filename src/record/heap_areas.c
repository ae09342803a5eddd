#include "config.h"
#include "record/heap_areas.h"
#include "base/util.h"
#include "symbols/objects/maps.h"

#include <stdlib.h>
#include <string.h>

/* When a trace has this number of areas, functrace records no further area, because it reads all mappings of the
 * process for each new area. */
#define AREAS_MAX 65536

static bool heap_areas_is_known(const struct areas *areas, uint64_t address)
{
	const size_t count = COUNT_UP_TO(areas->items, areas->count, .from, address);

	return count && address < areas->items[count - 1].to;
}

/* Adds an area and merges it with all areas that it overlaps or touches. Calls put() for each part of it that was in no
 * area before. */
static void add_area(struct areas *areas, struct area area, void (*put)(void *, uint64_t, uint64_t), void *context)
{
	size_t first = 0, end;
	uint64_t at = area.from;

	while (first < areas->count && areas->items[first].to < area.from)
		first++;
	for (end = first; end < areas->count && areas->items[end].from <= area.to; end++) {
		const struct area old = areas->items[end];

		if (old.from > at)
			put(context, at, old.from - at);
		if (old.to > at)
			at = old.to;
		area.from = old.from < area.from ? old.from : area.from;
		area.to = old.to > area.to ? old.to : area.to;
	}
	if (area.to > at)
		put(context, at, area.to - at);
	if (end == first) {
		ARRAY_GROW(areas->items, areas->capacity, areas->count);
		memmove(areas->items + first + 1, areas->items + first, (areas->count - first) * sizeof(*areas->items));
		areas->count++;
	} else {
		memmove(areas->items + first + 1, areas->items + end, (areas->count - end) * sizeof(*areas->items));
		areas->count -= end - first - 1;
	}
	areas->items[first] = area;
}

void areas_note_block(struct areas *areas, pid_t pid, uint64_t address,
		      void (*put)(void *context, uint64_t from, uint64_t size), void *context)
{
	struct maps maps;

	if (heap_areas_is_known(areas, address) || areas->count >= AREAS_MAX || maps_read(pid, &maps) < 0)
		return;
	const struct mapping *mapping = maps_find(&maps, address);

	if (mapping)
		add_area(areas, (struct area){mapping->start, mapping->end}, put, context);
	maps_free(&maps);
}

void areas_free(struct areas *areas)
{
	free(areas->items);
	*areas = (struct areas){0};
}
