/* The last stage of a process's records: they become a part of a profile. */
#ifndef FT_PROFILE_PROFILE_STAGE_H
#define FT_PROFILE_PROFILE_STAGE_H

#include "analysis/stage.h"
#include "profile/profile.h"
#include "symbols/names/names.h"

struct profile_stage_options {
	struct profile *profile; /* that it becomes a part of at the end; the caller's */
	struct names *names;     /* of its objects; NULL: frames are named by what the trace says. The caller's */
	bool is_old;             /* as in struct profile_process */
	struct account_wishes wishes;
	const struct trace_clock *clock; /* as in struct account */
};

/* A last stage for the records of one process. */
struct stage *profile_stage_new(const struct profile_stage_options *options);

/* Makes an account, on which account_end() was called, a part of the profile, whose it is then. */
void profile_add_account(struct profile *profile, struct account *account, struct names *names);

#endif
