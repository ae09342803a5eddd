#include "config.h"
#include "record/live_set.h"
#include "trace/event.h"
#include "base/util.h"

#include <stdlib.h>

void live_free(struct live_set *live)
{
	hash_free(&live->blocks);
	hash_free(&live->references);
	hash_free(&live->reserved);
	hash_free(&live->kept);
	hash_free(&live->released);
	hash_free(&live->newer);
	hash_free(&live->gone);
	free(live->releases);
}

void live_fork(const struct live_set *from, struct live_set *to)
{
	struct hash_entry *entry;

	if (from->kind->ends_in_child)
		return;
	hash_copy(&from->blocks, &to->blocks);
	hash_copy(&from->references, &to->references);
	hash_copy(&from->kept, &to->kept);
	for (size_t i = 0; (entry = hash_next(&to->blocks, &i));)
		entry->value = block_older(entry->value);
	to->bytes = from->bytes;
	/* `releases` is not copied, because its event numbers belong to the parent's trace */
	to->older = from->blocks.count;
	to->older_bytes = from->bytes;
	to->has_baseline = from->has_baseline;
}

/* ---- One id ---- */

/* Subtracts a block that is no longer live from `bytes` and, if it is older than the trace, from `older` and
 * `older_bytes`. */
static void live_set_drop(struct live_set *live, const struct live_block *block)
{
	live->bytes -= block->size;
	if (!block->is_older)
		return;
	live->older--;
	live->older_bytes -= block->size;
}

/* If a scan is pending whose copy contains the block, remembers that the block is no longer live. */
static void note_gone(struct live_set *live, uint64_t id, const struct live_block *block)
{
	if (live->awaits_scan && !hash_get(&live->newer, id) && !hash_get(&live->gone, id))
		hash_set(&live->gone, id, block->size);
}

void live_add(struct trace *trace, const struct event *e)
{
	struct live_set *live = live_of(trace, e);
	const struct live_block block = {.size = e->size < BLOCK_SIZE_MAX ? e->size : BLOCK_SIZE_MAX,
					 .event = trace->output.next_index - 1,
					 .maker = e->has_unknown_maker ? 0 : function_number(trace->run, e->function)};
	uint64_t *const place = hash_get(&live->blocks, e->id);

	if (place) {
		const struct live_block old = block_unpack(*place);

		note_gone(live, e->id, &old);
		live_set_drop(live, &old);
		/* Existing resources are listed while the program runs. So the allocation of a listed id does not show
		 * that a release was missed: the resource may have been released before functrace could see releases,
		 * or it may have been listed before the call that allocates it has returned. */
		live->counts.reused += !(old.is_older && (live->kind->existing || live->baseline_is_written));
	}
	hash_set(&live->blocks, e->id, block_pack(&block));
	if (live->awaits_scan)
		hash_set(&live->newer, e->id, true);
	live->bytes += block.size;
	if (e->has_kept)
		hash_set(&live->kept, e->id, e->kept);
	else if (live->kept.count)
		hash_remove(&live->kept, e->id, NULL);
}

void live_add_existing(struct live_set *live, uint64_t id)
{
	const struct live_block block = {.is_older = true};

	if (hash_get(&live->blocks, id))
		return;
	hash_set(&live->blocks, id, block_pack(&block));
	live->older++;
}

bool live_add_baseline(struct live_set *live, uint64_t id, uint64_t size)
{
	const struct live_block block = {.size = size < BLOCK_SIZE_MAX ? size : BLOCK_SIZE_MAX, .is_older = true};

	if (hash_get(&live->blocks, id) || hash_get(&live->released, id))
		return false;
	hash_set(&live->blocks, id, block_pack(&block));
	live->bytes += block.size;
	live->older++;
	live->older_bytes += block.size;
	live->baseline_is_written = true;
	return true;
}

void live_note_release(struct live_set *live, uint64_t id, uint64_t how)
{
	if (!hash_get(&live->released, id))
		hash_set(&live->released, id, how);
}

bool live_has_released_since(struct live_set *live, uint64_t id)
{
	uint64_t *const how = hash_get(&live->released, id);
	const bool is_since = how && live->copies && *how == live->copies;

	if (is_since)
		*how = RELEASE_FINAL;
	return is_since;
}

bool live_remove(struct live_set *live, uint64_t id, struct live_block *block)
{
	uint64_t packed;

	if (!hash_remove(&live->blocks, id, &packed))
		return false;
	if (live->kept.count)
		hash_remove(&live->kept, id, NULL);
	*block = block_unpack(packed);
	note_gone(live, id, block);
	live_set_drop(live, block);
	return true;
}

void live_forget_maker(struct live_set *live, uint64_t id)
{
	uint64_t *const packed = hash_get(&live->blocks, id);

	if (!packed)
		return;
	struct live_block block = block_unpack(*packed);

	block.maker = 0;
	*packed = block_pack(&block);
}

/* ---- References: `references` contains the number of references after the first one ---- */

bool live_add_reference(struct live_set *live, uint64_t id)
{
	if (!live_is_counted(live))
		return false;
	const uint64_t *old = hash_get(&live->blocks, id);

	if (!old || block_unpack(*old).is_older) {
		hash_remove(&live->references, id, NULL);
		return false;
	}
	const uint64_t *count = hash_get(&live->references, id);

	hash_set(&live->references, id, count ? *count + 1 : 1);
	return true;
}

bool live_take_reference(struct live_set *live, uint64_t id)
{
	uint64_t *count = live_is_counted(live) ? hash_get(&live->references, id) : NULL;

	if (!count)
		return false;
	if (!--*count)
		hash_remove(&live->references, id, NULL);
	return true;
}

/* ---- Ranges ---- */

static uint64_t page_end(uint64_t start, uint64_t size)
{
	return add_saturated(add_saturated(start, size), page_size() - 1) & ~(page_size() - 1);
}

uint64_t live_range_end(const struct live_set *live, const struct event *e)
{
	const uint64_t *packed = e->extent ? NULL : hash_get(&live->blocks, e->id);

	return page_end(e->id, packed ? block_unpack(*packed).size : e->extent ? e->extent : 1);
}

static int live_set_compare_ranges(const void *a, const void *b)
{
	const struct live_range *const one = a, *const other = b;

	return compare_u64(one->start, other->start);
}

struct live_range *live_ranges(const struct live_set *live, uint64_t start, uint64_t end, size_t *count)
{
	const uint64_t *const whole = hash_get(&live->blocks, start);
	struct live_range *found = NULL;
	const struct hash_entry *entry;
	size_t capacity = 0;

	*count = 0;
	/* Most releases are of one whole range, which no other range overlaps. */
	if (whole && page_end(start, block_unpack(*whole).size) >= end) {
		found = xmalloc(sizeof(*found));
		*found = (struct live_range){start, page_end(start, block_unpack(*whole).size)};
		*count = 1;
		return found;
	}
	for (size_t i = 0; (entry = hash_next(&live->blocks, &i));) {
		const struct live_range range = {entry->key, page_end(entry->key, block_unpack(entry->value).size)};

		if (range.start >= end || range.end <= start)
			continue;
		ARRAY_GROW(found, capacity, *count);
		found[(*count)++] = range;
	}
	if (found)
		qsort(found, *count, sizeof(*found), live_set_compare_ranges);
	return found;
}
