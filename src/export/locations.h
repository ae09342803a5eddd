/* The places of code in a profile's stacks, each distinct one once: a call and the functions that are inlined there. */
#ifndef FT_EXPORT_LOCATIONS_H
#define FT_EXPORT_LOCATIONS_H

#include "base/hash.h"
#include "profile/profile.h"

struct location {
	const struct profile_frame *const *frames; /* innermost first; the profile's */
	size_t count;                              /* all but the last are inlined into the next */
};

/* Begins as zeroes. */
struct places {
	struct location *items; /* in the order in which they came up */
	size_t count, capacity;
	struct hash chain_of; /* a chain of frames and one more -> the chain */
	struct hash number_of;
	uint64_t chains;
};

/* The number, in `items`, of the place that begins with frame *i of the group, which is then the one behind it. */
size_t places_next(struct places *places, const struct profile_group *group, uint32_t *i);
void places_free(struct places *places);

#endif
