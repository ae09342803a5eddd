/* Converts the records of a trace to the records of an mpatrol trace, which identify blocks by index. */
#include "config.h"
#include "base/hash.h"
#include "base/util.h"
#include "trace/mpatrol/mpatrol.h"

#include <stdlib.h>
#include <string.h>

/* A release by a function that may be a realloc. If it is a realloc, the next call is its allocation. */
struct mpatrol_events_held_release {
	bool is_held;
	/* id and index of the block; its entry of `live` is 0 already */
	uint64_t id, index;
	uint32_t thread;
	char function[64]; /* beginning of the function's name */
	struct call_site site;
};

/* Converts records to events. `live` contains only the indexes of blocks, not their sizes, because a smaller table
 * causes fewer cache misses. */
struct mpatrol_events {
	struct mpatrol_events_options options;
	struct call_sites sites;
	uint64_t seed; /* random number that is XORed into all keys of `live` */
	/* address -> index of its block; 0 if the block was released and the address is unused */
	struct hash live;
	size_t dead; /* number of entries of `live` that are 0 */
	uint64_t last_index;
	uint32_t thread;
	struct hash other_resources; /* ids of resources that are not memory */
	bool has_memory;
	struct mpatrol_events_held_release held;
	unsigned calls; /* number of calls that the events of the current record represent */
};

struct mpatrol_events *mpatrol_events_new(const struct mpatrol_events_options *options)
{
	struct mpatrol_events *events = xcalloc(1, sizeof(*events));

	*events = (struct mpatrol_events){
		.options = *options,
		.seed = random_seed(),
		.sites = {.namer = options->namer, .namer_context = options->namer_context},
	};
	return events;
}

void mpatrol_events_free(struct mpatrol_events *events)
{
	call_sites_free(&events->sites);
	hash_free(&events->live);
	hash_free(&events->other_resources);
	free(events);
}

static void count_omission(struct mpatrol_events *events, enum omission what)
{
	events->options.omissions->count[what]++;
}

static void mpatrol_events_emit(struct mpatrol_events *events, const struct mpatrol_event *event)
{
	events->options.emit(events->options.context, event);
}

/* ---- Blocks ---- */

/* Counts an entry of `live` that became 0. Such an entry stays in the table, because most addresses are allocated
 * again. When at least half of the entries (and 1024) are 0, removes these entries, so that memory stays proportional
 * to the number of live blocks. */
static void count_dead_entry(struct mpatrol_events *events)
{
	struct hash live = {0};
	struct hash_entry *entry;

	if (++events->dead < 1024 || events->dead < events->live.count / 2)
		return;
	for (size_t i = 0; (entry = hash_next(&events->live, &i));)
		if (entry->value)
			hash_set(&live, entry->key, entry->value);
	hash_free(&events->live);
	events->live = live;
	events->dead = 0;
}

/* Removes the block at that address. Returns its index; 0 if no block is live there. */
static uint64_t mpatrol_events_take_index(struct mpatrol_events *events, uint64_t address)
{
	uint64_t *const place = hash_get(&events->live, address ^ events->seed);
	const uint64_t index = place ? *place : 0;

	if (!index)
		return 0;
	*place = 0;
	count_dead_entry(events);
	return index;
}

static void emit_release(struct mpatrol_events *events, uint64_t address, uint64_t index, uint32_t thread,
			 const struct call_site *site)
{
	mpatrol_events_emit(
		events,
		&(struct mpatrol_event){
			.type = MPATROL_FREE, .index = index, .address = address, .thread = thread, .site = *site});
}

/* Returns the entry of `live` for a block that is allocated at that address. If another block is live there, its
 * release is missing in the trace; then emits this release, because the old block's index is about to be
 * overwritten. */
static uint64_t *make_place(struct mpatrol_events *events, uint64_t address)
{
	const size_t known = events->live.count;
	uint64_t *index = hash_place(&events->live, address ^ events->seed);

	if (*index)
		emit_release(events, address, *index, 0, &(struct call_site){0});
	else
		events->dead -= events->live.count == known;
	return index;
}

/* Returns the index for a new block: the value of the argument MPATROL_INDEX_ARG, if the call has this argument and the
 * value is greater than all earlier indexes; else the next number. No index is used twice. */
static uint64_t next_index(struct mpatrol_events *events, const struct record_call *call)
{
	uint64_t index = 0;

	for (uint32_t i = 0; i < call->arg_count; i++)
		if (call->args[i].name && call->args[i].value && !strcmp(call->args[i].name, MPATROL_INDEX_ARG) &&
		    parse_number(call->args[i].value, INT64_MAX, &index))
			break;
	events->last_index = index > events->last_index ? index : events->last_index + 1;
	return events->last_index;
}

static void allocate(struct mpatrol_events *events, const struct record_call *call)
{
	uint64_t *const place = make_place(events, call->id);

	*place = next_index(events, call);
	mpatrol_events_emit(events, &(struct mpatrol_event){.type = MPATROL_ALLOC,
							    .index = *place,
							    .address = call->id,
							    .size = call->size,
							    .thread = events->thread,
							    .site = call_site_of(&events->sites, call)});
	events->calls++;
}

/* ---- Reallocations ---- */

/* Returns true if the function may reallocate: if its name contains "alloc". Reallocating functions have different
 * names in each allocator, but all these names contain the word, even rallocx. If the function cannot reallocate in
 * fact, its release is merely emitted one call later. */
static bool may_reallocate(const char *function)
{
	return function && strstr(function, "alloc");
}

static void forget_held(struct mpatrol_events_held_release *held)
{
	held->is_held = false;
	free((char *)(uintptr_t)held->site.function);
	free((char *)(uintptr_t)held->site.file);
}

static void end_held(struct mpatrol_events *events)
{
	struct mpatrol_events_held_release *held = &events->held;

	if (!held->is_held)
		return;
	emit_release(events, held->id, held->index, held->thread, &held->site);
	forget_held(held);
	events->calls++;
}

static void mpatrol_events_hold(struct mpatrol_events *events, const struct record_call *call, uint64_t index)
{
	const struct call_site site = call_site_of(&events->sites, call);

	events->held = (struct mpatrol_events_held_release){
		.is_held = true,
		.id = call->id,
		.index = index,
		.thread = events->thread,
		.site = {xstrdup_or_null(site.function), xstrdup_or_null(site.file), site.line},
	};
	strncpy(events->held.function, call->function, sizeof(events->held.function) - 1);
}

static void reallocate(struct mpatrol_events *events, const struct record_call *call)
{
	struct mpatrol_events_held_release *held = &events->held;

	*make_place(events, call->id) = held->index;
	mpatrol_events_emit(events, &(struct mpatrol_event){.type = MPATROL_REALLOC,
							    .index = held->index,
							    .address = call->id,
							    .size = call->size,
							    .old_address = held->id,
							    .thread = events->thread,
							    .site = call_site_of(&events->sites, call)});
	forget_held(held);
	events->calls += 2;
}

static bool ends_reallocation(const struct mpatrol_events *events, const struct record_call *call)
{
	const struct mpatrol_events_held_release *held = &events->held;

	return held->is_held && call->kind == CALL_ALLOC && call->id && held->thread == events->thread &&
	       call->function && !strncmp(held->function, call->function, sizeof(held->function) - 1);
}

/* ---- Records ---- */

static bool mpatrol_events_is_memory(const struct mpatrol_events *events, uint32_t resource)
{
	return !events->other_resources.count || !hash_get(&events->other_resources, resource);
}

/* Counts the members of a call that its event does not contain. */
static void count_omitted(struct mpatrol_events *events, const struct record_call *call)
{
	uint64_t *const count = events->options.omissions->count;
	const char *own = call->kind == CALL_RELEASE ? "free" : "malloc";

	count[OMITTED_FUNCTION] += call->function && strcmp(call->function, own) && strcmp(call->function, "realloc");
	count[OMITTED_TIME] += call->time_ns != TIME_NONE;
	count[OMITTED_STACK] += call->frame_count > 1;
	count[OMITTED_CONTEXT] += call->context != 0;
	for (uint32_t i = 0; i < call->arg_count; i++)
		count[OMITTED_ARGUMENT] += !call->args[i].name || strcmp(call->args[i].name, MPATROL_INDEX_ARG) != 0;
}

static void mpatrol_events_put_release(struct mpatrol_events *events, const struct record_call *call)
{
	const uint64_t index = mpatrol_events_take_index(events, call->id);

	if (!index) {
		count_omission(events, OMITTED_UNKNOWN_RELEASE);
		return;
	}
	count_omitted(events, call);
	if (may_reallocate(call->function)) {
		mpatrol_events_hold(events, call, index);
		return;
	}
	const struct call_site site = call_site_of(&events->sites, call);

	emit_release(events, call->id, index, events->thread, &site);
	events->calls++;
}

static void mpatrol_events_put_call(struct mpatrol_events *events, const struct record_call *call)
{
	if (call->kind == CALL_COPY || !mpatrol_events_is_memory(events, call->resource)) {
		count_omission(events, call->kind == CALL_COPY ? OMITTED_COPY : OMITTED_OTHER_RESOURCE);
		return;
	}
	if (ends_reallocation(events, call)) {
		count_omitted(events, call);
		reallocate(events, call);
		return;
	}
	end_held(events);
	if (call->kind == CALL_RELEASE) {
		mpatrol_events_put_release(events, call);
	} else if (call->id) {
		count_omitted(events, call);
		allocate(events, call);
	} else {
		count_omission(events, OMITTED_FAILED);
	}
}

static void mpatrol_events_put_resource(struct mpatrol_events *events, const struct record_resource *resource)
{
	/* A call may name the only declared resource by the number 0. Once memory is declared, 0 means memory. As long
	 * as only other resources are declared, 0 means one of them. */
	if (is_heap_type(resource->type)) {
		events->has_memory = true;
		hash_remove(&events->other_resources, 0, NULL);
		hash_remove(&events->other_resources, resource->id, NULL);
		return;
	}
	hash_set(&events->other_resources, resource->id, 1);
	if (!events->has_memory)
		hash_set(&events->other_resources, 0, 1);
	count_omission(events, OMITTED_DECLARATION);
}

unsigned mpatrol_events_put(struct mpatrol_events *events, const struct record *record)
{
	events->calls = 0;
	switch (record->type) {
	case RECORD_CALL:
		mpatrol_events_put_call(events, &record->call);
		break;
	case RECORD_PROCESS:
		if (record->process.has_pid || record->process.name)
			count_omission(events, OMITTED_PROCESS);
		break;
	case RECORD_RESOURCE:
		mpatrol_events_put_resource(events, &record->resource);
		break;
	case RECORD_OBJECT:
		call_sites_add_object(&events->sites, &record->object);
		count_omission(events, OMITTED_OBJECT);
		break;
	case RECORD_THREAD:
		events->thread = record->thread.tid;
		if (record->thread.name && *record->thread.name)
			count_omission(events, OMITTED_THREAD);
		break;
	case RECORD_AREA:
		mpatrol_events_emit(events, &(struct mpatrol_event){.type = record->area.is_internal ? MPATROL_INTERNAL
												     : MPATROL_HEAP,
								    .address = record->area.from,
								    .size = record->area.size});
		break;
	default:
		omissions_add(events->options.omissions, record);
		break;
	}
	return events->calls;
}

unsigned mpatrol_events_finish(struct mpatrol_events *events)
{
	events->calls = 0;
	end_held(events);
	return events->calls;
}
