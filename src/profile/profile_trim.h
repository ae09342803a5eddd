/* Cuts the stacks of a profile (-b), and joins the groups whose stacks are equal then. */
#ifndef FT_PROFILE_PROFILE_TRIM_H
#define FT_PROFILE_PROFILE_TRIM_H

#include "profile/profile.h"

/* Cuts stacks to `depth` frames, each with the frames that are inlined into it. If a stack has `depth` frames or more,
 * its end is set to STACK_WHOLE, because its former end is no longer shown and must not keep equal stacks apart. Frames
 * that are in no stack any more are freed. Call it after profile_end(), and after suppressions_apply(), which compares
 * frames that are cut off here. Groups with suppressed growth are joined only with each other. After that nothing can
 * be added to the profile. */
void profile_trim(struct profile *profile, uint32_t depth);

#endif
