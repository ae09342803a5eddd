#include "config.h"
#include "analysis/trace_writer.h"
#include "base/long_work.h"
#include "profile/profile_fill.h"
#include "profile/resolve.h"
#include "profile/profile_stage.h"

#include <stdlib.h>

struct profile_stage {
	struct stage stage;
	struct profile_stage_options options;
	struct account *account; /* NULL after it was passed to the profile */
};

/* The progress of naming a process's stacks. */
struct profile_stage_naming {
	struct long_work work;
	size_t done, total;
};

static void show_naming(struct profile_stage_naming *naming)
{
	char done[32], total[32];
	char *const text = xasprintf("names: %s of %s stacks", number_grouped(naming->done, done),
				     number_grouped(naming->total, total));

	long_work_show(&naming->work, text, naming->done, naming->total);
	free(text);
}

static void profile_stage_add_resource(struct profile *profile, size_t process, struct resolver *resolver,
				       struct profile_stage_naming *naming, const struct profile_resource *resource,
				       const struct resource_account *account)
{
	for (size_t i = 0; i < account->by_stack.site_count; i++) {
		const struct site *site = account->by_stack.sites[i];
		struct profile_group_key key = {.resource = resource,
						.function = string_intern(&profile->strings, site->function),
						.has_stack = site->stack};

		if (long_work_is_due(&naming->work))
			show_naming(naming);
		naming->done++;
		if (site->stack) {
			resolve_stack(resolver, site->stack);
			key.frames = resolver->frames;
			key.frame_count = resolver->frame_count;
			key.end = site->stack->end;
		}
		struct profile_group *group = profile_group_of(profile, &key);

		ARRAY_GROW(group->members, group->member_capacity, group->member_count);
		group->members[group->member_count++] = (struct profile_member){process, account, site};
	}
}

static size_t count_sites(const struct account *account)
{
	size_t count = 0;

	for (size_t i = 0; i < account->resources.count; i++) {
		const struct resource_account *resource = resource_account_of(account->resources.items[i]);

		count += resource ? resource->by_stack.site_count : 0;
	}
	return count;
}

/* Adds a process to the profile, which takes the account over. */
static void profile_stage_add_process(const struct profile_stage_options *options, struct account *account)
{
	struct profile *profile = options->profile;
	struct resolver resolver = {.profile = profile, .account = account, .names = options->names};
	const size_t process = profile->process_count;
	struct profile_stage_naming naming = {.total = count_sites(account)};

	long_work_begin(&naming.work);
	ARRAY_GROW(profile->processes, profile->process_capacity, profile->process_count);
	profile->processes[profile->process_count++] =
		(struct profile_process){.account = account, .is_old = options->is_old};
	profile->has_old |= options->is_old || account->wishes.has_mark;
	for (size_t i = 0; i < account->resources.count; i++) {
		const struct resource_state *which = account->resources.items[i];
		const struct resource_account *resource = resource_account_of(which);

		if (resource)
			profile_stage_add_resource(profile, process, &resolver, &naming,
						   profile_resource_of(profile, which), resource);
	}
	long_work_end(&naming.work);
	resolver_free(&resolver);
}

void profile_add_account(struct profile *profile, struct account *account, struct names *names)
{
	profile_stage_add_process(&(struct profile_stage_options){.profile = profile, .names = names}, account);
}

static int profile_stage_put(struct stage *stage, const struct record *record)
{
	struct profile_stage *profile = (struct profile_stage *)stage;

	output_feed_names(profile->options.names, &profile->account->objects, record);
	account_put(profile->account, record);
	return 0;
}

static int profile_stage_finish(struct stage *stage)
{
	struct profile_stage *profile = (struct profile_stage *)stage;

	if (!profile->account || !profile->account->has_process)
		return 0;
	if (profile->options.done)
		return profile->options.done(profile->options.context, profile->account);
	account_end(profile->account);
	profile->account->clock = NULL;
	profile_stage_add_process(&profile->options, profile->account);
	profile->account = NULL;
	return 0;
}

static void profile_stage_free(struct stage *stage)
{
	struct profile_stage *profile = (struct profile_stage *)stage;

	if (profile->account) {
		account_free(profile->account);
		free(profile->account);
	}
	free(profile);
}

struct stage *profile_stage_new(const struct profile_stage_options *options)
{
	struct profile_stage *profile = xcalloc(1, sizeof(*profile));

	profile->stage =
		(struct stage){.put = profile_stage_put, .finish = profile_stage_finish, .free = profile_stage_free};
	profile->options = *options;
	profile->account = xcalloc(1, sizeof(*profile->account));
	profile->account->wishes = options->wishes;
	profile->account->clock = options->clock;
	return &profile->stage;
}
