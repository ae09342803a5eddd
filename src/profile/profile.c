#include "config.h"
#include "profile/profile_fill.h"
#include "base/time_units.h"

#include <stdlib.h>
#include <string.h>

struct profile *profile_new(void)
{
	struct profile *profile = xcalloc(1, sizeof(*profile));

	profile->seed = random_seed() | 1;
	profile->has_times = true;
	return profile;
}

/* Strings of frames and groups are interned, so strings with the same text have the same address. */
static bool same_frame(const struct profile_frame *a, const struct profile_frame *b)
{
	if (a->inlined != b->inlined || a->module != b->module || a->function != b->function || a->file != b->file ||
	    a->line != b->line)
		return false;
	if (a->function)
		return true;
	return a->module ? a->offset == b->offset : a->address == b->address;
}

static uint64_t hash_frame(const struct profile *profile, const struct profile_frame *frame)
{
	uint64_t h = profile->seed + frame->line * 2 + frame->inlined;

	h = hash_mix(h + (uintptr_t)frame->module);
	h = hash_mix(h + (uintptr_t)frame->file);
	h = hash_mix(h + (uintptr_t)frame->function);
	return frame->function ? h : hash_mix(h + (frame->module ? frame->offset : frame->address));
}

const struct profile_frame *profile_frame_intern(struct profile *profile, const struct profile_frame *frame)
{
	struct profile_frame wanted = *frame;

	wanted.function = string_intern(&profile->strings, frame->function);
	wanted.module = string_intern(&profile->strings, frame->module);
	wanted.file = string_intern(&profile->strings, frame->file);
	wanted.build_id = string_intern(&profile->strings, frame->build_id);
	/* Frames with equal hashes get consecutive keys. */
	uint64_t key = hash_frame(profile, &wanted);
	struct profile_frame *found;

	while ((found = hash_get_ptr(&profile->frame_of, key))) {
		if (same_frame(found, &wanted))
			return found;
		key++;
	}
	found = xmalloc(sizeof(*found));
	*found = wanted;
	found->number = profile->frame_count;
	ARRAY_GROW(profile->frames, profile->frame_capacity, profile->frame_count);
	profile->frames[profile->frame_count++] = found;
	hash_set_ptr(&profile->frame_of, key, found);
	return found;
}

static struct profile_resource *find_resource(const struct profile *profile, const char *type)
{
	for (size_t i = 0; i < profile->resource_count; i++)
		if (!strcmp(profile->resources[i]->type, type))
			return profile->resources[i];
	return NULL;
}

/* Returns the name of the type of a kind of resource. Kinds of different processes with this name are summed up. */
static const char *profile_type_of(const struct resource_state *which)
{
	return which->declared ? which->type : "not declared";
}

struct profile_resource *profile_resource_of(struct profile *profile, const struct resource_state *which)
{
	struct profile_resource *resource = find_resource(profile, profile_type_of(which));

	if (resource)
		return resource;
	resource = xcalloc(1, sizeof(*resource));
	resource->type = string_intern(&profile->strings, profile_type_of(which));
	resource->desc = string_intern(&profile->strings, string_or_empty(which->desc));
	resource->flags = which->flags;
	resource->number = profile->resource_count;
	ARRAY_GROW(profile->resources, profile->resource_capacity, profile->resource_count);
	profile->resources[profile->resource_count++] = resource;
	return resource;
}

static bool is_of_group(const struct profile_group *group, const struct profile_group_key *key)
{
	if (group->resource != key->resource || group->frame_count != key->frame_count ||
	    group->has_stack != key->has_stack || group->end != key->end ||
	    group->growth_is_suppressed != key->growth_is_suppressed)
		return false;
	return group->function == key->function &&
	       (!key->frame_count || !memcmp(group->frames, key->frames, key->frame_count * sizeof(*key->frames)));
}

static uint64_t hash_group(const struct profile *profile, const struct profile_group_key *key)
{
	uint64_t h = hash_mix(profile->seed + (uintptr_t)key->resource + key->has_stack + 2 * key->end);

	h = hash_mix(h + (uintptr_t)key->function);
	for (size_t i = 0; i < key->frame_count; i++)
		h = hash_mix(h + (uintptr_t)key->frames[i]) * 0x9fb21c651e98df25u;
	return h;
}

static struct profile_group *group_new(struct profile *profile, const struct profile_group_key *key)
{
	struct profile_group *group = xcalloc(1, sizeof(*group));

	group->resource = key->resource;
	group->function = key->function;
	group->has_stack = key->has_stack;
	group->growth_is_suppressed = key->growth_is_suppressed;
	group->end = key->end;
	group->first_since = group->oldest_since = group->least_age = UINT64_MAX;
	group->number = profile->group_count;
	if (key->frame_count) {
		const struct profile_frame **frames =
			xreallocarray(NULL, key->frame_count, sizeof(struct profile_frame *));

		memcpy(frames, key->frames, key->frame_count * sizeof(struct profile_frame *));
		group->frames = frames;
		group->frame_count = (uint32_t)key->frame_count;
	}
	ARRAY_GROW(profile->groups, profile->group_capacity, profile->group_count);
	profile->groups[profile->group_count++] = group;
	return group;
}

struct profile_group *profile_group_of(struct profile *profile, const struct profile_group_key *wanted)
{
	uint64_t key = hash_group(profile, wanted);
	struct profile_group *found;

	while ((found = hash_get_ptr(&profile->group_of, key))) {
		if (is_of_group(found, wanted))
			return found;
		key++;
	}
	found = group_new(profile, wanted);
	hash_set_ptr(&profile->group_of, key, found);
	return found;
}

/* Returns the time of the account's first call in nanoseconds since the Epoch; returns 0 if it is unknown. */
static uint64_t absolute_begin(const struct account *account)
{
	if (account->start_sec <= 0 || !account->has_times)
		return 0;
	return add_saturated(
		mul_saturated((uint64_t)(account->start_sec - account->start_sec % SECONDS_PER_DAY), NS_PER_SECOND),
		account->first.time_ns);
}

/* Sets the offsets of the processes, so that the profile begins at the earliest first call. Adds up their counts. */
static void place_processes(struct profile *profile)
{
	uint64_t begin = UINT64_MAX;

	for (size_t i = 0; i < profile->process_count; i++) {
		const struct account *account = profile->processes[i].account;
		const uint64_t own = absolute_begin(account);

		if (profile->processes[i].is_old)
			continue;
		if (own && own < begin)
			begin = own;
		profile->has_times &= account->has_times || !account->has_begun;
		profile->events += account->events;
		profile->stacks_cut += account->stacks_cut;
		profile->stacks_lost += account->stacks_lost;
		if (!profile->begin_sec || (account->start_sec && account->start_sec < profile->begin_sec))
			profile->begin_sec = account->start_sec;
	}
	for (size_t i = 0; i < profile->process_count; i++) {
		struct profile_process *process = &profile->processes[i];
		const uint64_t own = absolute_begin(process->account);

		if (process->is_old)
			continue;
		process->offset = own && profile->has_times ? own - begin : 0;
		const uint64_t end = add_saturated(process->offset, process->account->last.since);

		if (end > profile->end_since)
			profile->end_since = end;
	}
}

static void sum_scan(struct profile *profile, const struct account *account, struct profile_resource *resource,
		     const struct resource_account *from)
{
	for (unsigned i = 0; i < LOST_KINDS; i++)
		tally_join(&resource->lost[i], &from->last_scan.lost[i]);
	resource->scanned += resource_account_has_scan(from);
	if (!resource_account_has_scan(from))
		tally_join(&resource->not_scanned, &from->live);
	else
		tally_join(&resource->since_scan, &from->last_scan.unscanned);
	if (!from->last_scan.scans || resource_account_has_scan(from) || resource->unscanned_reason)
		return;
	resource->unscanned_reason = string_intern(&profile->strings, from->last_scan.scan_reason);
	resource->unscanned_process = string_intern(&profile->strings, account->name ? account->name : "?");
}

static void sum_resource(const struct profile *profile, size_t process, struct profile_resource *to,
			 const struct resource_account *account)
{
	tally_join(&to->allocated, &account->allocations);
	tally_join(&to->live, &account->live);
	tally_join(&to->temporary, &account->temporary);
	tally_join(&to->peak, &account->at_peak.peak);
	tally_join(&to->others, &account->others);
	to->releases += account->releases;
	to->unknown_releases += account->unknown_releases;
	to->reused += account->reused;
	if (account->before) {
		tally_join(&to->before, &account->before->tally);
		tally_join(&to->before_live, &account->before->live);
	}
	if (account->at_peak.peak.calls)
		to->peak_since = add_saturated(profile->processes[process].offset, account->at_peak.peak_at.since);
}

/* Adds the member's reachable blocks to the group's sums, and for each class the blocks that were alive at
 * earlier_since (account.h). */
static void sum_scanned(struct profile_group *group, const struct profile_member *member)
{
	const struct site *site = member->site;
	struct tally reachable = site->live, earlier = site->earlier;

	if (!resource_account_has_scan(member->resource)) {
		if (!site->is_before)
			tally_join(&group->earlier_picked, &site->earlier);
		return;
	}
	tally_subtract(&reachable, &site->unscanned);
	tally_subtract(&earlier, &site->earlier_unscanned);
	for (unsigned i = 0; i < LOST_KINDS; i++) {
		tally_subtract(&reachable, &site->lost[i]);
		tally_subtract(&earlier, &site->earlier_lost[i]);
		if (i != LOST_POSSIBLY)
			tally_join(&group->earlier_picked, &site->earlier_lost[i]);
	}
	tally_join(&group->earlier_indirectly, &site->earlier_lost[LOST_INDIRECTLY]);
	tally_join(&group->earlier_possibly, &site->earlier_lost[LOST_POSSIBLY]);
	tally_join(&group->reachable, &reachable);
	tally_join(&group->earlier_reachable, &earlier);
}

void profile_group_join_times(struct profile_group *to, const struct profile_group *from)
{
	if (from->first_since < to->first_since)
		to->first_since = from->first_since;
	if (!from->live.calls)
		return;
	if (from->oldest_since < to->oldest_since)
		to->oldest_since = from->oldest_since;
	if (from->newest_since >= to->newest_since) {
		to->newest_since = from->newest_since;
		to->newest_id = from->newest_id;
	}
	if (from->least_age < to->least_age)
		to->least_age = from->least_age;
	if (from->greatest_age > to->greatest_age)
		to->greatest_age = from->greatest_age;
}

/* How much a verdict says about a group with several members. */
static int verdict_rank(enum estimate_verdict verdict)
{
	return verdict == ESTIMATE_GROWING ? 2 : verdict == ESTIMATE_FEW || verdict == ESTIMATE_UNRESOLVED;
}

static void sum_estimate(struct profile_group *group, const struct site_estimate *estimate)
{
	struct site_estimate *const sum = &group->estimate;

	if (!estimate || estimate->verdict == ESTIMATE_EXACT)
		return;
	/* What has gone adds nothing. Its figures are unknown, and would make the sums unknown. */
	if (group->is_estimated && estimate->is_gone)
		return;
	if (!group->is_estimated || sum->is_gone) {
		group->is_estimated = true;
		*sum = *estimate;
		return;
	}
	sum->live_low += estimate->live_low;
	sum->live_high += estimate->live_high;
	sum->growth += estimate->growth;
	sum->growth_low += estimate->growth_low;
	sum->growth_high += estimate->growth_high;
	if (verdict_rank(estimate->verdict) > verdict_rank(sum->verdict))
		sum->verdict = estimate->verdict;
}

static void sum_member(const struct profile *profile, struct profile_group *group, const struct profile_member *member)
{
	const struct site *site = member->site;
	const struct profile_process *process = &profile->processes[member->process];
	const uint64_t end = process->account->last.since;
	const struct profile_group own = {
		.live = site->live,
		.first_since = add_saturated(process->offset, site->first_since),
		.oldest_since = add_saturated(process->offset, site->oldest_since),
		.newest_since = add_saturated(process->offset, site->newest_since),
		.least_age = end - site->newest_since,
		.greatest_age = end - site->oldest_since,
		.newest_id = site->newest_id,
	};

	group->is_before |= site->is_before;
	group->has_old |= process->is_old || process->account->wishes.has_mark;
	if (process->is_old) {
		figures_join(&group->old, &(struct figures){site->tally, site->live, site->temporary, site->at_peak});
		return;
	}
	if (process->account->wishes.has_mark)
		figures_join(&group->old, &site->at_mark);
	tally_join(&group->allocated, &site->tally);
	tally_join(&group->live, &site->live);
	tally_join(&group->temporary, &site->temporary);
	tally_join(&group->own_peak, &site->own_peak);
	tally_join(&group->at_peak, &site->at_peak);
	tally_join(&group->picked, &site->picked);
	tally_join(&group->picked_indirectly, &site->picked_indirectly);
	for (unsigned i = 0; i < LOST_KINDS; i++)
		tally_join(&group->lost[i], &site->lost[i]);
	sum_scanned(group, member);
	tally_join(&group->earlier, &site->earlier);
	group->released += site->released;
	group->lifetimes = add_saturated(group->lifetimes, site->lifetimes);
	group->ages = add_saturated(group->ages, site->ages);
	sum_estimate(group, site->estimate);
	profile_group_join_times(group, &own);
}

void profile_end(struct profile *profile)
{
	place_processes(profile);
	for (size_t p = 0; p < profile->process_count; p++) {
		const struct account *account = profile->processes[p].account;

		for (size_t i = 0; !profile->processes[p].is_old && i < account->resources.count; i++) {
			const struct resource_state *which = account->resources.items[i];
			const struct resource_account *resource = resource_account_of(which);

			if (!resource)
				continue;
			sum_resource(profile, p, find_resource(profile, profile_type_of(which)), resource);
			sum_scan(profile, account, find_resource(profile, profile_type_of(which)), resource);
		}
	}
	for (size_t i = 0; i < profile->group_count; i++) {
		struct profile_group *group = profile->groups[i];
		struct profile_resource *resource = profile->resources[group->resource->number];

		for (size_t k = 0; k < group->member_count; k++)
			sum_member(profile, group, &group->members[k]);
		group->is_uncompared = profile->has_old && group->is_before && !group->has_old;
		tally_join(&resource->picked, &group->picked);
		tally_join(&resource->reachable, &group->reachable);
		figures_join(&resource->old, &group->old);
	}
}

bool profile_has_intervals(const struct profile *profile)
{
	for (size_t i = 0; i < profile->process_count; i++)
		if (profile->processes[i].account->intervals.count)
			return true;
	return false;
}

struct tally profile_group_at(const struct profile *profile, const struct profile_group *group, uint64_t since)
{
	struct tally sum = {0};

	for (size_t i = 0; i < group->member_count; i++) {
		const struct profile_member *member = &group->members[i];
		const struct timeline *timeline = &member->resource->timeline;
		const uint64_t offset = profile->processes[member->process].offset;

		if (profile->processes[member->process].is_old || since < offset || !timeline->moment_width)
			continue;
		const struct tally at =
			site_history_at(&member->site->history, (since - offset) / timeline->moment_width);

		tally_join(&sum, &at);
	}
	return sum;
}

const struct resource_account *profile_resource_account(const struct account *account,
							const struct profile_resource *resource)
{
	for (size_t i = 0; i < account->resources.count; i++)
		if (!strcmp(profile_type_of(account->resources.items[i]), resource->type))
			return resource_account_of(account->resources.items[i]);
	return NULL;
}

struct tally profile_resource_at(const struct profile *profile, const struct profile_resource *resource, uint64_t since)
{
	struct tally sum = {0};

	for (size_t p = 0; p < profile->process_count; p++) {
		const struct profile_process *process = &profile->processes[p];
		const struct resource_account *account = profile_resource_account(process->account, resource);

		if (!account || process->is_old || since < process->offset || !account->timeline.count)
			continue;
		size_t span = (since - process->offset) / account->timeline.width;

		if (span >= account->timeline.count)
			span = account->timeline.count - 1;
		tally_join(&sum, &account->timeline.spans[span].last);
	}
	return sum;
}

void profile_give_back(struct profile *profile)
{
	profile->process_count = 0;
}

void profile_group_free(struct profile_group *group)
{
	free((void *)group->frames);
	free(group->members);
	free(group);
}

void profile_free(struct profile *profile)
{
	for (size_t i = 0; i < profile->process_count; i++) {
		account_free(profile->processes[i].account);
		free(profile->processes[i].account);
	}
	for (size_t i = 0; i < profile->resource_count; i++)
		free(profile->resources[i]);
	for (size_t i = 0; i < profile->group_count; i++)
		profile_group_free(profile->groups[i]);
	for (size_t i = 0; i < profile->frame_count; i++)
		free(profile->frames[i]);
	free(profile->processes);
	free(profile->resources);
	free(profile->groups);
	free(profile->frames);
	hash_free(&profile->frame_of);
	hash_free(&profile->group_of);
	intern_pool_free(&profile->strings);
	free(profile);
}
