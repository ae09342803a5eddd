/* Computes the figures of the blocks that are alive at the end: their ages, their classes according to the last scan,
 * and which of them are leaks. */
#include "config.h"
#include "profile/account_parts.h"

#include <string.h>

/* Returns true if the block was alive at earlier_since, before the calls at that time: a block that was allocated
 * exactly then was not alive yet. If earlier_since is the end of the trace, all blocks were alive. */
static bool was_alive_earlier(const struct account *account, const struct account_block *block)
{
	return block->born.since < account->earlier_since || account->earlier_since >= account->last.since;
}

/* If the block was allocated after the last scan, counts it as unscanned: it is unknown whether the block is lost. */
static void note_unscanned(const struct account *account, struct resource_account *resource,
			   struct account_block *block)
{
	if (block->born.index <= resource->last_scan.scan_index)
		return;
	tally_add(&resource->last_scan.unscanned, block->size);
	tally_add(&block->site->unscanned, block->size);
	if (was_alive_earlier(account, block))
		tally_add(&block->site->earlier_unscanned, block->size);
}

/* Returns true if the block is reported as a leak; counts it by its class. With the result of a scan, definitely and
 * indirectly lost blocks are leaks. Without such a result, all blocks that were allocated in the trace are leaks;
 * blocks from before the trace are not, because a program has many of them, and few are leaks. */
static bool account_end_is_leak(const struct account *account, struct resource_account *resource,
				struct account_block *block)
{
	if (!resource_account_has_scan(resource))
		return !block->is_before;
	if (!block->lost_scan || block->lost_scan != resource->last_scan.scans) {
		note_unscanned(account, resource, block);
		return false;
	}
	tally_add(&resource->last_scan.lost[block->lost], block->size);
	tally_add(&block->site->lost[block->lost], block->size);
	if (was_alive_earlier(account, block))
		tally_add(&block->site->earlier_lost[block->lost], block->size);
	return block->lost != LOST_POSSIBLY;
}

static void end_block(const struct account *account, struct resource_account *resource, uint64_t id,
		      struct account_block *block)
{
	const uint64_t born = block->born.since, age = account->last.since - born;
	struct site *site = block->site;

	if (born < site->oldest_since)
		site->oldest_since = born;
	/* Of blocks with the same time, take the one with the lowest id, because the order of the hash table is
	 * arbitrary. */
	if (!site->has_newest || born > site->newest_since || (born == site->newest_since && id < site->newest_id)) {
		site->has_newest = true;
		site->newest_since = born;
		site->newest_id = id;
	}
	site->ages = add_saturated(site->ages, age);
	if (block->is_before)
		tally_add(&resource->before_sizes[account_size_bucket(block->size)], block->size);
	if (!account_end_is_leak(account, resource, block))
		return;
	tally_add(&site->picked, block->size);
	if (resource_account_has_scan(resource) && block->lost == LOST_INDIRECTLY)
		tally_add(&site->picked_indirectly, block->size);
}

static void end_resource(struct account *account, const struct resource_state *which, struct resource_account *resource)
{
	struct hash_entry *entry;

	memset(resource->last_scan.lost, 0, sizeof(resource->last_scan.lost));
	memset(resource->before_sizes, 0, sizeof(resource->before_sizes));
	resource->last_scan.unscanned = (struct tally){0};
	for (size_t i = 0; i < resource->by_stack.site_count; i++) {
		struct site *site = resource->by_stack.sites[i];

		account_settle_site(resource, site);
		if (account->earlier_since < account->last.since)
			site->earlier = site_history_at(&site->history,
							account->earlier_since / resource->timeline.moment_width);
		else
			site->earlier = site->live;
		site->picked = site->picked_indirectly = (struct tally){0};
		site->ages = 0;
		memset(site->lost, 0, sizeof(site->lost));
		site->unscanned = (struct tally){0};
		memset(site->earlier_lost, 0, sizeof(site->earlier_lost));
		site->earlier_unscanned = (struct tally){0};
		site->oldest_since = UINT64_MAX;
		site->newest_since = site->newest_id = 0;
		site->has_newest = false;
	}
	for (size_t i = 0; i < resource->by_stack.site_count; i++)
		if (resource->by_stack.sites[i]->estimate)
			account_end_estimate(resource, resource->by_stack.sites[i], &account->last);
	if (account->intervals.count)
		account_end_unattributed(account, resource);
	for (size_t i = 0; (entry = hash_next(&which->live, &i));)
		end_block(account, resource, entry->key ^ which->seed, (struct account_block *)(uintptr_t)entry->value);
}

/* Returns the time of the timelines' last moment (timeline.h) that is not inside the last tenth of the trace.
 * last: the time at which the trace ends. account_end() advances all timelines to `last`, so their moments have the
 * same times. */
static uint64_t last_tenth(uint64_t last)
{
	uint64_t width = 1;

	while (last / width >= TIMELINE_MOMENTS)
		width *= 2;
	return (last - last / 10) / width * width;
}

/* Takes the beginning and the end of the trace from the clock of the whole trace. */
static void end_with_clock(struct account *account, const struct trace_clock *clock)
{
	if (clock->last > account->last.since)
		account->last.since = clock->last;
	if (account->has_begun || !clock->has_begun)
		return;
	account->has_begun = true;
	account->has_times = clock->has_times;
	account->first.time_ns = clock->first_ns;
}

void account_end(struct account *account)
{
	if (account->clock)
		end_with_clock(account, account->clock);
	if (account->wishes.has_mark && !account->mark_passed)
		account_keep_mark(account);
	account->earlier_since = last_tenth(account->last.since);
	for (size_t i = 0; i < account->resources.count; i++) {
		const struct resource_state *which = account->resources.items[i];
		struct resource_account *resource = resource_account_of(which);

		if (!resource)
			continue;
		timeline_advance(&resource->timeline, account->last.since);
		end_resource(account, which, resource);
	}
}
