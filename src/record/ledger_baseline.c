/* The ledger's functions for baselines: they add the blocks from before the trace to the live set while the program
 * runs. */
#include "config.h"
#include "record/ledger.h"
#include "record/resource_ids.h"
#include "record/live_set.h"
#include "record/put_records.h"
#include "record/run.h"
#include "record/commit.h"

void ledger_begin_baseline(struct trace *trace, uint32_t resource)
{
	trace->ledger.live[resource].awaits_baseline = true;
	trace->ledger.live[resource].copies = 0;
}

bool ledger_awaits_baseline(const struct trace *trace)
{
	for (uint32_t id = 1; trace->ledger.live && id < kinds_end(trace->run->set); id++)
		if (trace->ledger.live[id].awaits_baseline)
			return true;
	return false;
}

void ledger_take_room(struct trace *trace, uint32_t resource, struct hash *room)
{
	commit_about_to_change(trace);
	hash_move(&trace->ledger.live[resource].blocks, room);
}

bool ledger_baseline(struct trace *trace, uint32_t resource, uint64_t id, uint64_t size)
{
	struct live_set *const live = &trace->ledger.live[resource];

	commit_about_to_change(trace);
	if (live_add_baseline(live, id, size))
		return true;
	/* If the record of the release is still deferred, it will follow this id's baseline record, so it is not the
	 * release of an unknown block. */
	if (!put_is_deferring(trace) || !live_has_released_since(live, id))
		return false;
	live->counts.unknown_releases--;
	return true;
}

void ledger_baseline_without(struct trace *trace, uint32_t resource, uint64_t id)
{
	struct live_set *live = &trace->ledger.live[resource];

	if (live->awaits_baseline)
		live_note_release(live, id, RELEASE_FINAL);
}

void ledger_baseline_copied(struct trace *trace)
{
	for (uint32_t id = 1; trace->ledger.live && id < kinds_end(trace->run->set); id++)
		trace->ledger.live[id].copies++;
}

void ledger_end_baseline(struct trace *trace, uint32_t resource, bool is_complete)
{
	struct live_set *live = &trace->ledger.live[resource];

	live->awaits_baseline = false;
	live->has_baseline = is_complete;
	hash_free(&live->released);
}

bool ledger_has_baseline(const struct trace *trace, uint32_t resource)
{
	const struct live_set *live = &trace->ledger.live[resource];

	return live->awaits_baseline || live->has_baseline;
}
