/* Adds the records of a process to a profile, as the last stage. */
#ifndef FT_PROFILE_PROFILE_STAGE_H
#define FT_PROFILE_PROFILE_STAGE_H

#include "analysis/stage.h"
#include "profile/profile.h"
#include "symbols/names/names.h"

struct profile_stage_options {
	struct profile *profile; /* to which the process is added at the end; the caller owns it */
	struct names *names; /* names of its objects, owned by the caller; NULL: frames have the names in the trace */
	bool is_old;         /* as in struct profile_process */
	struct account_wishes wishes;
	const struct trace_clock *clock; /* as in struct account */
};

/* Returns a last stage for the records of one process. Copies the options. */
struct stage *profile_stage_new(const struct profile_stage_options *options);

/* Adds an account, on which account_end() was called, to the profile, which takes it over. names: as in struct
 * profile_stage_options. */
void profile_add_account(struct profile *profile, struct account *account, struct names *names);

#endif
