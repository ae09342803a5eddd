/* Sums up the records of a process, and adds the sums to a profile. This is the last stage. */
#ifndef FT_PROFILE_PROFILE_STAGE_H
#define FT_PROFILE_PROFILE_STAGE_H

#include "analysis/stage.h"
#include "profile/profile.h"
#include "symbols/names/names.h"

struct profile_stage_options {
	struct profile *profile; /* the profile to which the process is added at the end; owned by the caller */
	/* names of the process's objects, owned by the caller; NULL: frames get the names in the trace */
	struct names *names;
	bool is_old; /* as in struct profile_process */
	struct account_wishes wishes;
	const struct trace_clock *clock; /* as in struct account */
	/* If set, it is called at the end of the records, and the process is not added to a profile; account_end() is
	 * not called. The stage owns the account. Returns 0 or a negative errno. */
	int (*done)(void *context, struct account *account);
	void *context;
};

/* Returns a stage for the records of one process, the last in its chain. Copies the options. */
struct stage *profile_stage_new(const struct profile_stage_options *options);

/* Adds an account, for which account_end() was called, to the profile, which takes it over. names: as in struct
 * profile_stage_options. */
void profile_add_account(struct profile *profile, struct account *account, struct names *names);

#endif
