#include "config.h"
#include "profile/account_parts.h"
#include "analysis/baseline_blocks.h"
#include "modules/known.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum numbers of notes and of ended processes that are kept, and maximum bytes of the text of each, because a
 * damaged trace could consist of notes. */
enum { NOTES_MAX = 100, ENDS_MAX = 10000, NOTE_BYTES = 400 };

struct block_chunk {
	struct block_chunk *next;
	struct account_block blocks[256];
};

static struct account_block *block_new(struct account *account)
{
	if (!account->unused) {
		struct block_chunk *chunk = xmalloc(sizeof(*chunk));

		chunk->next = account->chunks;
		account->chunks = chunk;
		for (size_t i = ARRAY_SIZE(chunk->blocks); i--;) {
			chunk->blocks[i].next_unused = account->unused;
			account->unused = &chunk->blocks[i];
		}
	}
	struct account_block *block = account->unused;

	account->unused = block->next_unused;
	return block;
}

static unsigned lifetime_bucket(uint64_t value)
{
	unsigned bucket = 0;

	for (; value && bucket < LIFETIME_BUCKETS - 1; value /= 10)
		bucket++;
	return bucket;
}

static void count_lifetime(struct resource_account *resource, struct account_block *block, const struct moment *now)
{
	const struct moment *born = &block->born;
	/* Unlike time_ns, `since` is correct across midnight and when the clock steps back. */
	const uint64_t lifetime = now->since - born->since;

	block->site->lifetimes = add_saturated(block->site->lifetimes, lifetime);
	if (born->time_ns == TIME_NONE || now->time_ns == TIME_NONE) {
		resource->lifetimes_events[lifetime_bucket(now->number > born->number ? now->number - born->number
										      : 0)]++;
		return;
	}
	resource->lifetimes_ns[lifetime_bucket(lifetime / 1000)]++;
}

static void count_temporary(struct resource_account *resource, const struct account_block *block)
{
	tally_add(&resource->temporary, block->size);
	tally_add(&block->site->temporary, block->size);
	if (block->thread)
		tally_add(&block->thread->temporary, block->size);
}

/* Subtracts a block from the sums of live blocks, and frees it. */
static void drop_block(struct account *account, struct resource_account *resource, struct account_block *block)
{
	account_settle_site(resource, block->site);
	tally_take(&resource->live, block->size);
	tally_take(&block->site->live, block->size);
	tally_take(&resource->live_sizes[account_size_bucket(block->size)], block->size);
	if (block->thread)
		tally_take(&block->thread->live, block->size);
	if (block == resource->newest)
		resource->newest = NULL;
	block->next_unused = account->unused;
	account->unused = block;
}

static void count_release(struct account *account, struct resource_state *which, struct resource_account *resource,
			  const struct record_call *call, const struct moment *now)
{
	struct account_block *block = resource_live_get(which, call->id);

	resource->releases++;
	if (!block) {
		resource->unknown_releases++;
		return;
	}
	if (--block->references)
		return;
	resource_live_remove(which, call->id);
	if (block == resource->newest)
		count_temporary(resource, block);
	block->site->released++;
	if (!block->is_before)
		count_lifetime(resource, block, now);
	drop_block(account, resource, block);
	timeline_note(&resource->timeline, &resource->live, false);
}

static void account_add_block(struct account *account, struct resource_state *which, struct resource_account *resource,
			      uint64_t id, const struct account_block *values)
{
	struct account_block *block = block_new(account);
	struct site *site = values->site;
	const uint64_t size = values->size;

	*block = *values;
	block->references = 1;
	resource_live_set(which, id, block);
	account_settle_site(resource, site);
	tally_add(&resource->allocations, size);
	tally_add(&resource->live, size);
	tally_add(&resource->sizes[account_size_bucket(size)], size);
	tally_add(&resource->live_sizes[account_size_bucket(size)], size);
	tally_add(&site->tally, size);
	tally_add(&site->live, size);
	if (block->thread) {
		tally_add(&block->thread->tally, size);
		tally_add(&block->thread->live, size);
	}
	if (!block->is_before)
		resource->newest = block;
	account_count_site_peak(resource, site);
	account_count_peak(resource, &block->born);
	timeline_note(&resource->timeline, &resource->live, !block->is_before);
}

/* Subtracts a block of the baseline from the allocations, because its allocating call follows in the trace. That call
 * had not returned when the baseline was taken, so the block is not from before the trace. */
static void take_back(struct resource_account *resource, const struct account_block *block)
{
	tally_take(&resource->allocations, block->size);
	tally_take(&resource->sizes[account_size_bucket(block->size)], block->size);
	tally_take(&block->site->tally, block->size);
}

static void count_allocation(struct account *account, struct resource_state *which, struct resource_account *resource,
			     const struct record_call *call, const char *function, const struct moment *now)
{
	struct account_block *old = resource_live_get(which, call->id);

	if (old && !old->is_before && which->flags & RESOURCE_REFCOUNT) {
		old->references++;
		resource->references++;
		return;
	}
	if (old) {
		if (old->is_before)
			take_back(resource, old);
		else
			resource->reused++;
		drop_block(account, resource, old);
	}
	account_add_block(account, which, resource, call->id,
			  &(struct account_block){.size = call->size,
						  .born = *now,
						  .site = account_site(resource, call, function, now),
						  .thread = account_thread(account, resource)});
}

static void account_put_baseline(struct account *account, const struct record_baseline *baseline)
{
	struct resource_state *which = resources_of(&account->resources, baseline->resource);
	struct resource_account *resource = account_resource(account, which);
	const char *const name = string_intern(&account->strings, BEFORE_NAME);

	if (which->flags & RESOURCE_CALL)
		return;
	timeline_advance(&resource->timeline, account->last.since);
	for (uint32_t i = 0; i < baseline->count; i++) {
		const struct record_call call = baseline_call(baseline, i);

		if (resource_live_get(which, call.id))
			continue;
		resource->before = account_site(resource, &call, name, &account->last);
		resource->before->is_before = true;
		account_add_block(
			account, which, resource, call.id,
			&(struct account_block){
				.size = call.size, .born = account->last, .site = resource->before, .is_before = true});
	}
}

/* Counts a call that neither allocates nor releases. The sums by size, site and thread count such calls only for a kind
 * that has no other calls (RESOURCE_CALL). For other kinds these sums count allocations, so a call that copies
 * (CALL_COPY) is not added to them. */
static void count_other(struct account *account, const struct resource_state *which, struct resource_account *resource,
			const struct record_call *call, const char *function, const struct moment *now)
{
	tally_add(&resource->others, call->size);
	if (!(which->flags & RESOURCE_CALL))
		return;
	struct thread_account *thread = account_thread(account, resource);

	tally_add(&resource->sizes[account_size_bucket(call->size)], call->size);
	tally_add(&account_site(resource, call, function, now)->tally, call->size);
	if (thread)
		tally_add(&thread->tally, call->size);
}

struct moment account_next_moment(struct account *account, const struct record_call *call)
{
	struct moment now = {.index = ++account->events, .number = call->index, .time_ns = call->time_ns};

	account_advance(account, &now, call);
	return now;
}

static void account_put_call(struct account *account, const struct record_call *call)
{
	struct resource_state *which = resources_of(&account->resources, call->resource);
	struct resource_account *resource = account_resource(account, which);
	struct function_stats *function = account_function(account, resource, call->function);
	const struct moment now = account_next_moment(account, call);

	timeline_advance(&resource->timeline, now.since);
	account->stacks_cut += call->has_frames && call->end == STACK_CUT;
	account->stacks_lost += call->has_frames && call->end == STACK_LOST;
	tally_add(&function->tally, call->kind == CALL_RELEASE ? 0 : call->size);
	if (call->kind == CALL_RELEASE) {
		function->releases++;
		count_release(account, which, resource, call, &now);
	} else if (call->kind == CALL_COPY || which->flags & RESOURCE_CALL) {
		count_other(account, which, resource, call, function->name, &now);
	} else {
		count_allocation(account, which, resource, call, function->name, &now);
	}
}

static void account_put_resource(struct account *account, const struct record_resource *record)
{
	const struct resource *known = module_resource(string_or_empty(record->type));

	resources_declare(&account->resources, record);
	account_resource(account, resources_of(&account->resources, record->id))->counts_alone = known && !known->unit;
}

static void account_put_scan(struct account *account, const struct record_scan *scan)
{
	struct resource_account *resource =
		account_resource(account, resources_of(&account->resources, scan->resource));

	resource->last_scan.scans++;
	resource->last_scan.scan_index = account->last.index;
	resource->last_scan.scan_reason = string_intern(&account->strings, string_or_empty(scan->reason));
}

static void account_put_lost(struct account *account, const struct record_lost *lost)
{
	struct resource_state *which = resources_of(&account->resources, lost->resource);
	struct account_block *block = resource_live_get(which, lost->id);

	if (!block)
		return;
	block->lost_scan = account_resource(account, which)->last_scan.scans;
	block->lost = lost->kind;
}

static void account_put_process(struct account *account, const struct record_process *process)
{
	free(account->name);
	free(account->command);
	account->name = xstrdup(process->name ? process->name : "?");
	account->command = xstrdup_or_null(process->command);
	account->pid = process->pid;
	account->has_pid = process->has_pid;
	account->has_process = true;
	account->is_attached = process->is_attached;
	account->start_sec = process->start_sec;
}

char *account_program(const struct account *account)
{
	const char *path = account->name, *name = account->process_name;

	/* The kernel truncates the names of processes, so `name` may be the beginning of the file name. */
	if (account->command || !name || !strncmp(path_name(path), name, strlen(name)))
		return xstrdup_or_null(account->command ? account->command : path);
	return xasprintf("%s (%s)", path, name);
}

static void put_end(struct account *account, const struct process_end *end)
{
	if (!account->has_pid || end->pid == account->pid) {
		free(account->end);
		account->end = xstrndup(end->how, NOTE_BYTES);
		account->ended_well = !end->is_signal && !end->number;
		return;
	}
	account->ends_left_out += account->end_count == ENDS_MAX;
	if (account->end_count == ENDS_MAX)
		return;
	ARRAY_GROW(account->ends, account->end_capacity, account->end_count);
	account->ends[account->end_count++] =
		xasprintf("process %" PRIu32 " %.*s", end->pid, (int)NOTE_BYTES, end->how);
}

static void account_put_note(struct account *account, const char *text)
{
	struct process_end end;
	uint32_t child, parent;

	account->is_forked |=
		sscanf(string_or_empty(text), "process %" SCNu32 " was forked by %" SCNu32, &child, &parent) == 2 &&
		(!account->has_pid || child == account->pid);
	if (note_end_parse(string_or_empty(text), &end) &&
	    (!account->has_pid || end.pid == account->pid || end.is_signal || end.number)) {
		put_end(account, &end);
		return;
	}
	account->notes_left_out += account->note_count == NOTES_MAX;
	if (account->note_count == NOTES_MAX)
		return;
	ARRAY_GROW(account->notes, account->note_capacity, account->note_count);
	account->notes[account->note_count++] = xstrndup(string_or_empty(text), NOTE_BYTES);
}

static void account_put_resident(struct account *account, const struct record_resident *record)
{
	struct resident *resident = &account->resident;

	if (!resident->is_known)
		resident->known_since = account->last.since;
	resident->is_known = true;
	resident->last = record->now;
	resident->peak = record->peak;
	timeline_advance(&resident->line, account->last.since);
	timeline_note(&resident->line, &(struct tally){1, record->now}, false);
}

void account_put(struct account *account, const struct record *record)
{
	trace_end_put(&account->trace_end, record);
	object_map_note(&account->objects, record);
	switch (record->type) {
	case RECORD_CALL:
		account_put_call(account, &record->call);
		break;
	case RECORD_PROCESS:
		account_put_process(account, &record->process);
		break;
	case RECORD_RESOURCE:
		account_put_resource(account, &record->resource);
		break;
	case RECORD_THREAD:
		account->tid = record->thread.tid;
		account->thread_name = string_intern(&account->strings, string_or_empty(record->thread.name));
		if (account->has_pid && account->tid == account->pid && *account->thread_name)
			account->process_name = account->thread_name;
		break;
	case RECORD_NOTE:
		account_put_note(account, record->note.text);
		break;
	case RECORD_SCAN:
		account_put_scan(account, &record->scan);
		break;
	case RECORD_LOST:
		account_put_lost(account, &record->lost);
		break;
	case RECORD_BASELINE:
		account_put_baseline(account, &record->baseline);
		break;
	case RECORD_RESIDENT:
		account_put_resident(account, &record->resident);
		break;
	case RECORD_ESTIMATE:
		account_put_estimate(account, &record->estimate);
		break;
	case RECORD_INTERVAL:
		account_put_interval(account, &record->interval);
		break;
	default:
		break;
	}
}

void account_free(struct account *account)
{
	for (size_t i = 0; i < account->resources.count; i++) {
		struct resource_account *resource = resource_account_of(account->resources.items[i]);

		if (resource)
			resource_account_free(resource);
	}
	resources_free(&account->resources);
	while (account->chunks) {
		struct block_chunk *next = account->chunks->next;

		free(account->chunks);
		account->chunks = next;
	}
	for (size_t i = 0; i < account->note_count; i++)
		free(account->notes[i]);
	free(account->notes);
	for (size_t i = 0; i < account->end_count; i++)
		free(account->ends[i]);
	free(account->ends);
	free(account->end);
	timeline_free(&account->resident.line);
	object_map_free(&account->objects);
	intern_pool_free(&account->strings);
	free(account->name);
	free(account->command);
}
