#include "config.h"
#include "export/locations.h"

#include <stdlib.h>

/* Returns how many frames from `begin` on are one place: inlined functions, and the function that contains them. */
static uint32_t locations_length_of(const struct profile_group *group, uint32_t begin)
{
	uint32_t end = begin + 1;

	while (end < group->frame_count && group->frames[end - 1]->inlined)
		end++;
	return end - begin;
}

size_t places_next(struct places *places, const struct profile_group *group, uint32_t *i)
{
	const struct location place = {group->frames + *i, locations_length_of(group, *i)};
	uint64_t chain = 0;

	*i += (uint32_t)place.count;
	for (size_t k = 0; k < place.count; k++) {
		uint64_t *const longer = hash_place(&places->chain_of, chain << 32 | place.frames[k]->number);

		if (!*longer)
			*longer = ++places->chains;
		chain = *longer;
	}
	uint64_t *const number = hash_place(&places->number_of, chain);

	if (!*number) {
		ARRAY_GROW(places->items, places->capacity, places->count);
		places->items[places->count++] = place;
		*number = places->count;
	}
	return *number - 1;
}

void places_free(struct places *places)
{
	free(places->items);
	hash_free(&places->chain_of);
	hash_free(&places->number_of);
}
