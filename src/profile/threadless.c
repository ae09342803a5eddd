#include "config.h"
#include "profile/threadless.h"
#include "profile/compared.h"

static void take_thread(struct thread_account *rest, const struct thread_account *thread, bool is_old)
{
	if (is_old) {
		tally_subtract(&rest->at_mark.live, &thread->live);
		return;
	}
	tally_subtract(&rest->tally, &thread->tally);
	tally_subtract(&rest->live, &thread->live);
	tally_subtract(&rest->temporary, &thread->temporary);
	tally_subtract(&rest->at_mark.live, &thread->at_mark.live);
}

void profile_threadless(const struct profile *profile, const struct profile_resource *resource,
			struct thread_account rest[2])
{
	rest[0] = (struct thread_account){.name = ""};
	rest[1] = (struct thread_account){.name = "(unknown)"};
	for (size_t i = 0; i < profile->group_count; i++) {
		const struct profile_group *group = profile->groups[i];
		struct thread_account *const row = &rest[!group->is_before];

		if (group->resource != resource)
			continue;
		if (group->is_before)
			row->name = group->function;
		tally_join(&row->tally, &group->allocated);
		tally_join(&row->live, &group->live);
		tally_join(&row->temporary, &group->temporary);
		tally_join(&row->at_mark.live, profile_group_old_live(group));
	}
	for (size_t p = 0; p < profile->process_count; p++) {
		const struct profile_process *process = &profile->processes[p];
		const struct resource_account *account = profile_resource_account(process->account, resource);

		for (size_t i = 0; account && i < account->by_thread.thread_count; i++)
			take_thread(&rest[1], account->by_thread.threads[i], process->is_old);
	}
}
