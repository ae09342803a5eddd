/* Numbers the distinct places of code in a profile's stacks. A place is a call with the functions that are inlined
 * there. */
#ifndef FT_EXPORT_LOCATIONS_H
#define FT_EXPORT_LOCATIONS_H

#include "base/hash.h"
#include "profile/profile.h"

struct location {
	const struct profile_frame *const *frames; /* innermost first; the profile's */
	size_t count;                              /* all but the last are inlined into the next */
};

/* Zero at first. */
struct places {
	struct location *items; /* in the order in which they first came */
	size_t count, capacity;
	struct hash chain_of; /* number of a chain, and one more frame -> number of the longer chain */
	struct hash number_of;
	uint64_t chains;
};

/* Returns the number in `items` of the place that begins with frame *i of the group. Moves *i to the frame after the
 * place. */
size_t places_next(struct places *places, const struct profile_group *group, uint32_t *i);
void places_free(struct places *places);

#endif
