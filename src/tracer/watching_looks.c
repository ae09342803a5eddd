#include "config.h"
#include "tracer/watching_parts.h"
#include "tracer/traced_capture.h"
#include "heap/heap.h"
#include "ptrace/target_memory.h"
#include "scan/capture/heap_capture.h"
#include "base/hash.h"
#include "base/util.h"
#include "watch/interval.h"
#include "watch/pace.h"

#include <string.h>

/* The target is stopped while its heap is copied. The first copy is limited; its time tells how much can be copied
 * within a pause of PAUSE_NS. */
#define FIRST_LIMIT (UINT64_C(32) << 20)
#define PAUSE_NS    4000000u
#define COPIES_MAX  4 /* in a look, if a thread is inside malloc */
/* Looks that fail, one after the other, before the watch does without copies: because the heap is too large, and for
 * other reasons. */
#define TOO_LARGE_MAX 3
#define FAILURES_MAX  20
#define PRINT_BYTES   64

/* A look: the blocks of a copy of the heap, and the counts of their classes. */
struct look {
	struct process *p;
	const struct heap *heap; /* NULL: only contents are read */
	struct hash counts, lost, *first_lost;
	struct hash prints; /* of address and size: the contents that were read, as several watches ask for them */
};

static uint32_t class_of(uint64_t usable)
{
	return usable > UINT32_MAX ? UINT32_MAX : (uint32_t)usable;
}

uint32_t watching_class(const struct watching *one, uint64_t size)
{
	return one->heap.allocator ? class_of(heap_usable_size(one->heap.allocator, one->p->arch->pointer_size, size))
				   : 0;
}

static uint64_t print_of(struct look *look, uint64_t address, uint64_t size)
{
	uint64_t *const known = hash_place(&look->prints, hash_mix(address) ^ size);
	unsigned char bytes[PRINT_BYTES] = {0};
	uint64_t hash = 0xcbf29ce484222325;
	const size_t length = size < sizeof(bytes) ? (size_t)size : sizeof(bytes);

	if (*known || memory_read(look->p, address, bytes, length) < 0)
		return *known;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3;
	return *known = hash ? hash : 1;
}

/* Finds a chunk in the copy. */
static bool chunk_in_copy(void *context, uint64_t address, struct watch_chunk *chunk)
{
	struct look *const look = context;
	const uint32_t index = heap_find(look->heap, address);

	if (index == HEAP_NONE || heap_block(look->heap, index).address != address)
		return false;
	chunk->size_class = class_of(heap_block(look->heap, index).size);
	chunk->print = chunk->size ? print_of(look, address, chunk->size) : 0;
	return true;
}

/* Reads a block's contents. */
static bool chunk_contents(void *context, uint64_t address, struct watch_chunk *chunk)
{
	struct look *const look = context;

	chunk->print = print_of(look, address, chunk->size);
	return true;
}

/* Without a copy of the heap: a sampled block lives if its first bytes are as they were, and a released one, whose
 * contents are unknown, does not. */
static bool chunk_is_same(void *context, uint64_t address, struct watch_chunk *chunk)
{
	struct look *const look = context;
	const uint64_t before = chunk->print;

	chunk->print = chunk->size ? print_of(look, address, chunk->size) : 0;
	return before && chunk->print == before;
}

static uint64_t class_count_of(const struct hash *counts, uint32_t size_class)
{
	const uint64_t *const count = hash_get(counts, size_class);

	return count ? *count : 0;
}

static uint64_t count_at_look(void *context, uint32_t size_class)
{
	return class_count_of(&((const struct look *)context)->counts, size_class);
}

static bool is_lost_at(void *context, uint64_t address)
{
	const struct look *const look = context;
	const uint32_t index = heap_find(look->heap, address);

	return index != HEAP_NONE && heap_block(look->heap, index).class <= HEAP_INDIRECT &&
	       heap_block(look->heap, index).address == address;
}

static uint64_t lost_at_look(void *context, uint32_t size_class)
{
	const struct look *const look = context;
	const uint64_t lost = class_count_of(&look->lost, size_class),
		       before = class_count_of(look->first_lost, size_class);

	return lost > before ? lost - before : 0;
}

/* Counts the blocks of the look, in all and by class. */
static void count_blocks(struct watching *one, struct look *look, bool with_scan)
{
	struct watching_heap *const heap = &one->heap;
	const size_t count = heap_count(look->heap);

	heap->bytes = 0;
	heap->blocks = (double)count;
	heap->lost = with_scan ? 0 : heap->lost;
	for (size_t i = 0; i < count; i++) {
		const struct heap_block block = heap_block(look->heap, (uint32_t)i);

		heap->bytes += (double)block.size;
		++*hash_place(&look->counts, class_of(block.size));
		if (!with_scan || block.class > HEAP_INDIRECT)
			continue;
		heap->lost += (double)block.size;
		++*hash_place(&look->lost, class_of(block.size));
	}
	if (!heap->keeps_first)
		heap->first_bytes = heap->bytes;
	heap->keeps_first = true;
	heap->is_known = true;
	heap->allocator = heap_allocator(look->heap);
	if (!with_scan || heap->has_first_lost)
		return;
	hash_copy(&look->lost, &heap->first_lost);
	heap->has_first_lost = true;
}

static void watching_looks_note(struct watching *one, const struct watch_heap *heap)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC), work = watching_work(one);

	watch_look(one->watch, now, work, heap);
	watch_recent_look(one->recent, now, work, heap);
	one->heap.looked_wall = clock_ns(CLOCK_REALTIME);
	one->looks++;
}

static void use_copy(struct watching *one, const struct heap *copy, bool with_scan)
{
	struct look look = {.p = one->p, .heap = copy, .first_lost = &one->heap.first_lost};
	struct watch_heap heap = {.context = &look, .chunk_at = chunk_in_copy, .count = count_at_look};

	count_blocks(one, &look, with_scan);
	if (with_scan) {
		heap.is_lost = is_lost_at;
		heap.lost_count = lost_at_look;
	}
	watching_looks_note(one, &heap);
	if (with_scan)
		one->heap.scanned_wall = one->heap.looked_wall;
	hash_free(&look.counts);
	hash_free(&look.lost);
	hash_free(&look.prints);
}

static bool is_still_watched(const struct process *p)
{
	return p->tasks && !p->leaving;
}

static void note_look_copied(struct process *p)
{
	(void)p;
}

/* Sets how much can be copied in a pause. A pause that was long because the machine was busy changes little. */
static void adapt_limit(struct watching_heap *heap, uint64_t pause_ns)
{
	const double pause = pause_ns < 100000 ? 1e5 : (double)pause_ns;
	double rate = (heap->bytes + 1e6) / pause;

	rate = heap->rate > 0 && rate < heap->rate / 2 ? heap->rate / 2 : rate;
	heap->rate = heap->rate > 0 ? 0.8 * heap->rate + 0.2 * rate : rate;
	heap->limit = (uint64_t)(2 * heap->rate * PAUSE_NS);
	if (heap->limit < FIRST_LIMIT)
		heap->limit = FIRST_LIMIT;
}

/* A look without a copy of the heap. */
static void look_at_contents(struct watching *one)
{
	struct look look = {.p = one->p};

	one->heap.bytes = one->heap.blocks = one->heap.lost = WATCH_UNKNOWN;
	watching_looks_note(one, &(struct watch_heap){.context = &look, .chunk_at = chunk_is_same});
	hash_free(&look.prints);
}

static void end_look(struct watching *one, const struct traced_capture *capture, bool with_scan)
{
	struct watching_heap *const heap = &one->heap;

	heap->reason = capture->heap_capture ? capture->reason : "no thread of the process could be stopped";
	if (heap->reason && !capture->pauses)
		heap->reason =
			"it is too large to be copied within some milliseconds, for which the process would stop";
	if (with_scan)
		heap->scan_reason = heap->reason;
	if (!heap->reason) {
		use_copy(one, heap_capture_heap(capture->heap_capture), with_scan);
		adapt_limit(heap, capture->stopped_ns);
		heap->failures = 0;
		heap->is_direct = false;
	} else if (++heap->failures >= (capture->pauses ? FAILURES_MAX : TOO_LARGE_MAX)) {
		heap->is_direct = true;
	}
	one->spent.target += capture->paused_ns;
	if (capture->stopped_ns > one->spent.longest_ns)
		one->spent.longest_ns = capture->stopped_ns;
}

bool watching_look(struct watching *one, bool with_scan)
{
	struct process *const p = one->p;
	const uint64_t spent = watching_spent_ns(one);
	bool goes_on = true;

	/* A scan is another try: the heap may be smaller now. */
	if (one->heap.is_direct && !with_scan) {
		look_at_contents(one);
	} else {
		if (!one->heap.limit)
			one->heap.limit = FIRST_LIMIT;
		process_ref(p);
		const struct traced_capture capture = capture_consistent(p, &(struct capture_request){
										    .is_wanted = is_still_watched,
										    .copied = note_look_copied,
										    .spares_sleepers = !with_scan,
										    .is_for_blocks = !with_scan,
										    .limit = one->heap.limit,
										    .copies_max = COPIES_MAX,
									    });

		/* The process may have ended, or executed another program. */
		if (one->p)
			end_look(one, &capture, with_scan);
		heap_capture_free(capture.heap_capture);
		process_unref(p, NULL);
		goes_on = capture.goes_on;
	}
	uint64_t *const cost = with_scan ? &one->heap.scan_cost_ns : &one->heap.cost_ns;

	*cost = pace_cost(*cost, watching_spent_ns(one) - spent);
	return goes_on;
}

void watching_end_window(struct watching *one, uint64_t now, uint64_t work)
{
	struct look look = {.p = one->p};

	const struct watch_heap heap = {.context = &look, .chunk_at = chunk_contents};

	watch_window_end(one->watch, now, work, &heap);
	watch_recent_window_end(one->recent, now, work, &heap);
	hash_free(&look.prints);
}

void watching_heap_free(struct watching_heap *heap)
{
	hash_free(&heap->first_lost);
}
