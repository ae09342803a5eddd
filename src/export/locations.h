/* Numbers the distinct places of code in a profile's stacks. A place is a call with the functions that are inlined
 * there. */
#ifndef FT_EXPORT_LOCATIONS_H
#define FT_EXPORT_LOCATIONS_H

#include "base/hash.h"
#include "profile/profile.h"

struct location {
	const struct profile_frame *const *frames; /* the innermost first; owned by the profile */
	size_t count;                              /* number of frames; each but the last is inlined into the next */
};

/* The distinct places. The struct must be zeroed before the first use. */
struct places {
	struct location *items; /* in the order of their first occurrence */
	size_t count, capacity;
	struct hash chain_of; /* number of a chain of frames, and a frame after it -> number of the longer chain */
	struct hash number_of;
	uint64_t chains;
};

/* Returns the index in `items` of the place that begins with frame *i of the group. Sets *i to the index of the frame
 * after the place. */
size_t places_next(struct places *places, const struct profile_group *group, uint32_t *i);
void places_free(struct places *places);

#endif
