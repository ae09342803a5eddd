/* The ledger's functions for scans. A scan finds the live blocks that are lost. The program runs while a scan examines
 * its copy of the heap. So the scan reports a block only if it has been live since the copy was made. The allocation of
 * another id does not matter; but if the id itself was released and allocated again, it is another block:
 *
 *	copy: p is lost | A: malloc returns q | scan: p is lost
 *	copy: p is possibly lost | A: free(p) | B: malloc returns p, another block | scan: p is not reported */
#include "config.h"
#include "record/ledger.h"
#include "record/resource_ids.h"
#include "record/live_set.h"
#include "record/run.h"

static void ledger_scan_forget(struct live_set *live)
{
	hash_free(&live->newer);
	hash_free(&live->gone);
}

void ledger_scan_copied(struct trace *trace)
{
	for (uint32_t id = 1; trace->ledger.live && id < kinds_end(trace->run->set); id++) {
		struct live_set *const live = &trace->ledger.live[id];

		ledger_scan_forget(live);
		live->awaits_scan = kind_has_blocks(live->kind);
	}
}

void ledger_end_scan(struct trace *trace)
{
	for (uint32_t id = 1; trace->ledger.live && id < kinds_end(trace->run->set); id++) {
		trace->ledger.live[id].awaits_scan = false;
		ledger_scan_forget(&trace->ledger.live[id]);
	}
}

void ledger_each_copied(const struct trace *trace, uint32_t resource,
			void (*callback)(void *context, uint64_t id, uint64_t size), void *context)
{
	const struct hash_entry *entry;

	if (!trace->ledger.live)
		return;
	const struct live_set *const live = &trace->ledger.live[resource];

	for (size_t i = 0; (entry = hash_next(&live->blocks, &i));)
		if (!hash_get(&live->newer, entry->key))
			callback(context, entry->key, block_unpack(entry->value).size);
	for (size_t i = 0; (entry = hash_next(&live->gone, &i));)
		callback(context, entry->key, entry->value);
}

bool ledger_knew(const struct trace *trace, uint32_t resource, uint64_t id)
{
	return ledger_knows(trace, resource, id) && !hash_get(&trace->ledger.live[resource].newer, id);
}

void ledger_scan(struct trace *trace, uint32_t resource, bool is_known)
{
	const struct lost_total lost = {.is_known = is_known, .events = trace->counts.events};
	if (trace->ledger.live)
		trace->ledger.live[resource].lost = lost;
}

void ledger_lost(struct trace *trace, uint32_t resource, uint64_t id, enum lost_kind kind)
{
	if (!trace->ledger.live || kind == LOST_POSSIBLY)
		return;
	struct live_set *const live = &trace->ledger.live[resource];
	const uint64_t *const packed = hash_get(&live->blocks, id);
	const struct live_block block = packed ? block_unpack(*packed) : (struct live_block){0};
	const bool is_inherited = block.is_older && !live->baseline_is_written;

	*(is_inherited ? &live->lost.inherited : &live->lost.blocks) += 1;
	*(is_inherited ? &live->lost.inherited_bytes : &live->lost.bytes) += block.size;
}

struct lost_total ledger_lost_total(const struct trace *trace, uint32_t resource)
{
	const struct lost_total none = {0}, *lost = trace->ledger.live ? &trace->ledger.live[resource].lost : &none;

	return trace->is_parting || lost->events == trace->counts.events ? *lost : none;
}
