#include "config.h"
#include "analysis/leaks/leaks.h"
#include "analysis/baseline_blocks.h"
#include "analysis/call_pool.h"
#include "analysis/record_queue.h"
#include "analysis/resources.h"
#include "analysis/resource_words.h"
#include "analysis/tally.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A scan's result for a block. It is passed on at the end of the trace only if the block is still live, its kind is
 * wanted, and there is no later scan of the resource. */
struct leaks_verdict {
	struct resource_state *resource;
	uint64_t id, owner; /* owner: sequence of the call that allocated the block, or FROM_BEFORE */
	uint64_t scan;
	enum lost_kind kind;
	uint32_t number; /* number of the resource, as in the lost record */
};

#define FROM_BEFORE UINT64_MAX

struct leaks {
	struct stage stage;
	struct resources resources;
	struct call_pool pool;
	struct object_map objects;
	bool object_held; /* the last object was added to `queue`, so its build-id must follow it there */
	struct held_call *first, *last;
	struct record_queue queue;
	uint64_t sequence, unseen;
	struct leaks_verdict *verdicts;
	size_t verdict_count, verdict_capacity;
	unsigned kinds;   /* set of kinds (leak_kinds.h): a scanned block of another kind is not a leak */
	unsigned current; /* kind of the leak that is being passed on, as a set with one bit */
	bool keeps_before;
};

/* Passes on the queued records that precede a held call, or all queued records if `call` is NULL. */
static int put_records_before(struct leaks *leaks, const struct held_call *call)
{
	return record_queue_put(&leaks->queue, call ? call->sequence : UINT64_MAX, leaks->stage.next);
}

static int queue_record(struct leaks *leaks, const struct record *record)
{
	record_queue_add(&leaks->queue, leaks->sequence++, record);
	return put_records_before(leaks, leaks->first);
}

static void leaks_append(struct leaks *leaks, struct held_call *call)
{
	call->sequence = leaks->sequence++;
	call->previous = leaks->last;
	call->next = NULL;
	if (leaks->last)
		leaks->last->next = call;
	else
		leaks->first = call;
	leaks->last = call;
}

static int leaks_drop(struct leaks *leaks, struct held_call *call)
{
	const bool was_first = call == leaks->first;

	if (call->previous)
		call->previous->next = call->next;
	else
		leaks->first = call->next;
	if (call->next)
		call->next->previous = call->previous;
	else
		leaks->last = call->previous;
	call_pool_release(&leaks->pool, call);
	return was_first ? put_records_before(leaks, leaks->first) : 0;
}

/* ---- Blocks from before the trace ----
 *
 * In resource->live, the value of such a block is not a pointer to a held call. It is the block's size, shifted left by
 * two bits, and two flags. The flag BEFORE is bit 0, which is never set in a pointer. */

#define BEFORE      1
#define BEFORE_PUT  2 /* the block was passed on */
#define BEFORE_SIZE 2 /* number of bits by which the size is shifted */

/* The state of a block is its enum lost_kind, or one of these. */
enum { STATE_REACHABLE = LOST_KINDS, STATE_SINCE_SCAN, STATES };

/* Data about one resource: the live blocks from before the trace, and the scans. */
struct before {
	struct tally live;
	uint64_t scans;
	uint64_t scan_at;               /* leaks->sequence at the last scan */
	bool is_known;                  /* the last scan has a result */
	struct tally not_shown[STATES]; /* live blocks of the trace that are not leaks, by state */
};

/* Returns the value of an id in resource->live: a pointer to a held call, or a number with BEFORE set; 0 if the id is
 * not live. */
static uint64_t leaks_live_of(const struct resource_state *resource, uint64_t id)
{
	const uint64_t *live = hash_get(&resource->live, id ^ resource->seed);

	return live ? *live : 0;
}

static struct before *before_of(struct resource_state *resource)
{
	if (!resource->user)
		resource->user = xcalloc(1, sizeof(struct before));
	return resource->user;
}

static void leaks_put_baseline(struct leaks *leaks, const struct record_baseline *baseline)
{
	struct resource_state *resource = resources_of(&leaks->resources, baseline->resource);
	struct before *before = before_of(resource);

	for (uint32_t i = 0; i < baseline->count && !(resource->flags & RESOURCE_CALL); i++) {
		const uint64_t most = UINT64_MAX >> BEFORE_SIZE, id = baseline->blocks[i].id;
		const uint64_t size = baseline->blocks[i].size < most ? baseline->blocks[i].size : most;

		if (leaks_live_of(resource, id))
			continue;
		hash_set(&resource->live, id ^ resource->seed, size << BEFORE_SIZE | BEFORE);
		tally_add(&before->live, size);
	}
}

/* Subtracts a block from the tally of live blocks from before the trace. Called when a call releases the block or
 * allocates its address, and when the block is passed on as a leak. live: the block's value in resource->live. */
static void leaks_take_before(struct resource_state *resource, uint64_t live)
{
	tally_take(&before_of(resource)->live, live >> BEFORE_SIZE);
}

/* ---- Scans ---- */

static int leaks_put_scan(struct leaks *leaks, const struct record *record)
{
	const struct record_scan *const scan = &record->scan;
	struct resource_state *const resource = resources_of(&leaks->resources, scan->resource);

	before_of(resource)->scans++;
	before_of(resource)->scan_at = leaks->sequence;
	before_of(resource)->is_known = !*string_or_empty(scan->reason);
	while (leaks->verdict_count && leaks->verdicts[leaks->verdict_count - 1].resource == resource)
		leaks->verdict_count--;
	return queue_record(leaks, record);
}

static uint64_t leaks_owner_of(uint64_t live)
{
	return live & BEFORE ? FROM_BEFORE : ((const struct held_call *)(uintptr_t)live)->sequence;
}

static void leaks_put_lost(struct leaks *leaks, const struct record_lost *lost)
{
	struct resource_state *resource = resources_of(&leaks->resources, lost->resource);
	const uint64_t live = leaks_live_of(resource, lost->id);

	if (!live || (live & BEFORE && !(leaks->kinds & LEAK_KIND(lost->kind))))
		return;
	ARRAY_GROW(leaks->verdicts, leaks->verdict_capacity, leaks->verdict_count);
	leaks->verdicts[leaks->verdict_count++] = (struct leaks_verdict){.resource = resource,
									 .id = lost->id,
									 .owner = leaks_owner_of(live),
									 .scan = before_of(resource)->scans,
									 .kind = lost->kind,
									 .number = lost->resource};
}

/* Returns the value of the block that a verdict is about, as leaks_live_of() does. Returns 0 if the block is no longer
 * live, or if there is a later scan. */
static uint64_t subject_of(const struct leaks_verdict *verdict)
{
	const uint64_t live = leaks_live_of(verdict->resource, verdict->id);

	return live && leaks_owner_of(live) == verdict->owner && verdict->scan == before_of(verdict->resource)->scans
		       ? live
		       : 0;
}

/* Stores the results of scans in the held calls. */
static void tell_calls(struct leaks *leaks)
{
	for (size_t i = 0; i < leaks->verdict_count; i++) {
		const uint64_t live = subject_of(&leaks->verdicts[i]);

		if (live && !(live & BEFORE))
			((struct held_call *)(uintptr_t)live)->lost = 1 + (unsigned)leaks->verdicts[i].kind;
	}
}

/* Returns true if a live block's call is a leak, and sets leaks->current to its kind. Otherwise counts the block in
 * not_shown. */
static bool leaks_is_leak(struct leaks *leaks, const struct held_call *call)
{
	struct before *const before = resources_of(&leaks->resources, call->resource)->user;

	leaks->current = LEAK_KIND(LOST_DEFINITELY);
	if (!before || !before->is_known)
		return true;
	const bool is_since = !call->lost && call->sequence > before->scan_at;
	const unsigned state = call->lost ? call->lost - 1 : is_since ? STATE_SINCE_SCAN : STATE_REACHABLE;

	if (!is_since)
		leaks->current = LEAK_KIND(state);
	if (is_since ? leaks->kinds == LEAK_KINDS_ALL : leaks->kinds & leaks->current)
		return true;
	tally_add(&before->not_shown[state], call->size);
	return false;
}

static int put_verdict(struct leaks *leaks, const struct leaks_verdict *verdict)
{
	const uint64_t live = subject_of(verdict);
	int error = 0;

	if (!live || !(leaks->kinds & LEAK_KIND(verdict->kind)))
		return 0;
	leaks->current = LEAK_KIND(verdict->kind);
	if (live & BEFORE && !(live & BEFORE_PUT)) {
		const struct baseline_block block = {verdict->id, live >> BEFORE_SIZE};

		leaks_take_before(verdict->resource, live);
		hash_set(&verdict->resource->live, verdict->id ^ verdict->resource->seed, live | BEFORE_PUT);
		error = stage_put(leaks->stage.next,
				  &(struct record){.type = RECORD_BASELINE, .baseline = {verdict->number, &block, 1}});
	}
	return error ? error
		     : stage_put(leaks->stage.next,
				 &(struct record){.type = RECORD_LOST,
						  .lost = {verdict->number, verdict->id, verdict->kind}});
}

unsigned leaks_kind(const struct stage *stage)
{
	return ((const struct leaks *)stage)->current;
}

void leaks_not_shown(const struct stage *stage, struct buf *out)
{
	static const char *const words[] = {
		[LOST_DEFINITELY] = "definitely lost",
		[LOST_INDIRECTLY] = "indirectly lost",
		[LOST_POSSIBLY] = "possibly lost",
		[STATE_REACHABLE] = "still reachable",
		[STATE_SINCE_SCAN] = "allocated after the scan",
	};
	const struct leaks *leaks = (const struct leaks *)stage;

	for (size_t i = 0; i < leaks->resources.count; i++) {
		const struct resource_state *resource = leaks->resources.items[i];
		const struct before *before = resource->user;

		for (unsigned kind = 0; before && kind < ARRAY_SIZE(words); kind++)
			words_not_shown(out, resource, &before->not_shown[kind], words[kind]);
		if (before)
			words_not_shown(out, resource, &before->live, "alive from before the trace began");
	}
}

/* ---- Calls ---- */

/* Returns the held call of a live id, or NULL. If the id is that of a block from before the trace, removes this block
 * from the live ones, because the present call releases it or allocates its address. The latter happens if the block
 * was allocated by a call that had not returned when the baseline was taken. */
static struct held_call *live_call(struct resource_state *resource, uint64_t id)
{
	const uint64_t live = leaks_live_of(resource, id);

	if (!(live & BEFORE))
		return (struct held_call *)(uintptr_t)live;
	leaks_take_before(resource, live);
	resource_live_remove(resource, id);
	return NULL;
}

static int leaks_put_call(struct leaks *leaks, const struct record_call *call)
{
	struct resource_state *resource = resources_of(&leaks->resources, call->resource);
	const bool counted = resource->flags & RESOURCE_REFCOUNT;

	if (resource->flags & RESOURCE_CALL)
		return 0;
	if (call->kind == CALL_ALLOC) {
		struct held_call *const old = live_call(resource, call->id);

		if (old && counted) {
			old->references += old->references != UINT32_MAX;
			return 0;
		}
		struct held_call *held = call_pool_call(&leaks->pool, call);

		leaks_append(leaks, held);
		resource_live_set(resource, call->id, held);
		leaks->unseen += old != NULL;
		return old ? leaks_drop(leaks, old) : 0;
	} else if (call->kind == CALL_RELEASE) {
		struct held_call *const old = live_call(resource, call->id);

		if (!old || (counted && --old->references))
			return 0;
		resource_live_remove(resource, call->id);
		return leaks_drop(leaks, old);
	}
	return 0;
}

static int leaks_put(struct stage *stage, const struct record *record)
{
	struct leaks *leaks = (struct leaks *)stage;

	switch (record->type) {
	case RECORD_CALL:
		return leaks_put_call(leaks, &record->call);
	case RECORD_THREAD:
		call_pool_thread(&leaks->pool, &record->thread);
		return 0;
	case RECORD_NOTE:
	case RECORD_COMMENT:
	case RECORD_RESIDENT:
		return queue_record(leaks, record);
	case RECORD_SCAN:
		return leaks_put_scan(leaks, record);
	case RECORD_LOST:
		leaks_put_lost(leaks, &record->lost);
		return 0;
	case RECORD_BASELINE:
		leaks_put_baseline(leaks, &record->baseline);
		return 0;
	case RECORD_OBJECT:
		/* An object must not be passed on before an earlier one that is still in `queue`. */
		leaks->object_held =
			object_map_put(&leaks->objects, &record->object) == OBJECT_REPLACES || leaks->queue.objects;
		if (leaks->object_held)
			return queue_record(leaks, record);
		break;
	case RECORD_BUILD_ID:
		if (leaks->object_held)
			return queue_record(leaks, record);
		break;
	case RECORD_RESOURCE:
		resources_declare(&leaks->resources, &record->resource);
		break;
	case RECORD_PROCESS: {
		struct record changed = *record;

		changed.process.filters |= FILTER_LEAKS;
		return stage_put(stage->next, &changed);
	}
	default:
		break;
	}
	return stage_put(stage->next, record);
}

static int put_before(struct leaks *leaks, struct resource_state *resource)
{
	struct baseline_blocks blocks = {0};
	struct hash_entry *entry;

	for (size_t i = 0; (entry = hash_next(&resource->live, &i));)
		if (entry->value & BEFORE) {
			baseline_blocks_add(&blocks, entry->key ^ resource->seed, entry->value >> BEFORE_SIZE);
			entry->value |= BEFORE_PUT;
		}
	return baseline_blocks_put(&blocks, resource->id, leaks->stage.next);
}

static int leaks_finish(struct stage *stage)
{
	struct leaks *leaks = (struct leaks *)stage;
	int error = 0;

	for (size_t i = 0; leaks->keeps_before && i < leaks->resources.count && !error; i++)
		error = put_before(leaks, leaks->resources.items[i]);

	tell_calls(leaks);
	for (const struct held_call *call = leaks->first; call && !error; call = call->next) {
		error = put_records_before(leaks, call);
		if (!error && leaks_is_leak(leaks, call))
			error = call_pool_put(&leaks->pool, call, stage->next);
	}
	if (!error)
		error = put_records_before(leaks, NULL);
	for (size_t i = 0; i < leaks->verdict_count && !error; i++)
		error = put_verdict(leaks, &leaks->verdicts[i]);
	return error ? error : stage_finish_next(stage);
}

static void leaks_free(struct stage *stage)
{
	struct leaks *leaks = (struct leaks *)stage;

	record_queue_free(&leaks->queue);
	free(leaks->verdicts);
	resources_free(&leaks->resources);
	call_pool_free(&leaks->pool);
	object_map_free(&leaks->objects);
	free(leaks);
}

uint64_t leaks_unseen(const struct stage *stage)
{
	return ((const struct leaks *)stage)->unseen;
}

void leaks_keep_before(struct stage *stage)
{
	((struct leaks *)stage)->keeps_before = true;
}

struct stage *leaks_new(struct stage *next, unsigned kinds)
{
	struct leaks *leaks = xmalloc(sizeof(*leaks));

	*leaks = (struct leaks){.stage = {.put = leaks_put, .finish = leaks_finish, .free = leaks_free, .next = next}};
	leaks->kinds = kinds;
	return &leaks->stage;
}
