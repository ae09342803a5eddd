/* Adds kinds of resources, functions, threads and sites to an account when they first occur. Stores their counts at
 * peaks, at the moments of the timelines (timeline.h), and at the account's mark (account.h). */
#include "config.h"
#include "profile/account_parts.h"

#include <stdlib.h>
#include <string.h>

struct resource_account *account_resource(struct account *account, struct resource_state *resource)
{
	if (!resource->user) {
		struct resource_account **place = resource->user = xmalloc(sizeof(*place));

		*place = xcalloc(1, sizeof(**place));
		(*place)->by_stack.stacks.objects = &account->objects;
	}
	return resource_account_of(resource);
}

struct function_stats *account_function(struct account *account, struct resource_account *resource,
					const char *function)
{
	const char *name = string_intern(&account->strings, function ? function : "?");
	struct function_stats *found = hash_get_ptr(&resource->by_function.function_of, (uintptr_t)name);

	if (!found) {
		found = xmalloc(sizeof(*found));
		*found = (struct function_stats){.name = name};
		ARRAY_GROW(resource->by_function.functions, resource->by_function.function_capacity,
			   resource->by_function.function_count);
		resource->by_function.functions[resource->by_function.function_count++] = found;
		hash_set_ptr(&resource->by_function.function_of, (uintptr_t)name, found);
	}
	return found;
}

struct thread_account *account_thread(struct account *account, struct resource_account *resource)
{
	if (!account->tid)
		return NULL;
	const uint64_t key = hash_mix((uintptr_t)account->thread_name) ^ account->tid;
	struct thread_account *found = hash_get_ptr(&resource->by_thread.thread_of, key);

	if (!found) {
		found = xmalloc(sizeof(*found));
		*found = (struct thread_account){.tid = account->tid, .name = account->thread_name};
		ARRAY_GROW(resource->by_thread.threads, resource->by_thread.thread_capacity,
			   resource->by_thread.thread_count);
		resource->by_thread.threads[resource->by_thread.thread_count++] = found;
		hash_set_ptr(&resource->by_thread.thread_of, key, found);
	}
	return found;
}

static struct site *site_new(struct resource_account *resource, const struct stack *stack, const char *function,
			     const struct moment *now)
{
	struct site *site = xmalloc(sizeof(*site));

	*site = (struct site){.stack = stack,
			      .function = function,
			      .number = resource->by_stack.site_count,
			      .first_since = now->since};
	ARRAY_GROW(resource->by_stack.sites, resource->by_stack.site_capacity, resource->by_stack.site_count);
	resource->by_stack.sites[resource->by_stack.site_count++] = site;
	resource->by_stack.stack_count += stack != NULL;
	return site;
}

struct site *account_site(struct resource_account *resource, const struct record_call *call, const char *function,
			  const struct moment *now)
{
	if (!call->has_frames) {
		struct site *site = hash_get_ptr(&resource->by_stack.stackless, (uintptr_t)function);

		if (!site) {
			site = site_new(resource, NULL, function, now);
			hash_set_ptr(&resource->by_stack.stackless, (uintptr_t)function, site);
		}
		return site;
	}
	struct stack *stack = stack_intern(&resource->by_stack.stacks, call);
	struct site *site = stack->user;

	while (site && site->function != function)
		site = site->next_of_stack;
	if (!site) {
		site = site_new(resource, stack, function, now);
		site->next_of_stack = stack->user;
		stack->user = site;
	}
	return site;
}

void account_settle_site(const struct resource_account *resource, struct site *site)
{
	site_history_note(&site->history, &resource->timeline, &site->live);
	if (site->peak_seen != resource->at_peak.peaks) {
		site->at_peak = site->live;
		site->peak_seen = resource->at_peak.peaks;
	}
}

static void keep_mark_of(struct resource_account *resource)
{
	for (size_t i = 0; i < resource->by_stack.site_count; i++) {
		struct site *site = resource->by_stack.sites[i];

		account_settle_site(resource, site);
		site->at_mark = (struct figures){site->tally, site->live, site->temporary, site->at_peak};
	}
	for (size_t i = 0; i < resource->by_thread.thread_count; i++) {
		struct thread_account *thread = resource->by_thread.threads[i];

		thread->at_mark = (struct figures){
			.allocated = thread->tally, .live = thread->live, .temporary = thread->temporary};
	}
	if (!resource->live_sizes_at_mark)
		resource->live_sizes_at_mark = xmalloc(sizeof(resource->live_sizes));
	memcpy(resource->live_sizes_at_mark, resource->live_sizes, sizeof(resource->live_sizes));
}

void account_keep_mark(struct account *account)
{
	for (size_t i = 0; i < account->resources.count; i++) {
		struct resource_account *resource = resource_account_of(account->resources.items[i]);

		if (resource)
			keep_mark_of(resource);
	}
}

void resource_account_free(struct resource_account *resource)
{
	for (size_t i = 0; i < resource->by_function.function_count; i++)
		free(resource->by_function.functions[i]);
	for (size_t i = 0; i < resource->by_stack.site_count; i++) {
		free(resource->by_stack.sites[i]->history.entries);
		free(resource->by_stack.sites[i]->estimate);
		free(resource->by_stack.sites[i]);
	}
	for (size_t i = 0; i < resource->by_thread.thread_count; i++)
		free(resource->by_thread.threads[i]);
	free(resource->by_function.functions);
	free(resource->by_stack.sites);
	free(resource->by_thread.threads);
	hash_free(&resource->by_function.function_of);
	hash_free(&resource->by_stack.stackless);
	hash_free(&resource->by_thread.thread_of);
	stack_pool_free(&resource->by_stack.stacks);
	free(resource->live_sizes_at_mark);
	timeline_free(&resource->timeline);
	free(resource);
}

/* Returns true if `live` is greater than `peak`. Compares bytes; if sizes mean nothing, or all are 0 so far, compares
 * numbers of blocks. */
static bool is_higher(const struct resource_account *resource, const struct tally *live, const struct tally *peak)
{
	if (resource->counts_alone || (!peak->bytes && !live->bytes))
		return live->calls > peak->calls;
	return live->bytes > peak->bytes;
}

void account_count_site_peak(const struct resource_account *resource, struct site *site)
{
	if (is_higher(resource, &site->live, &site->own_peak))
		site->own_peak = site->live;
}

void account_count_peak(struct resource_account *resource, const struct moment *now)
{
	if (resource->live.calls > resource->at_peak.peak_blocks.calls) {
		resource->at_peak.peak_blocks = resource->live;
		resource->at_peak.peak_blocks_at = *now;
	}
	if (is_higher(resource, &resource->live, &resource->at_peak.peak)) {
		resource->at_peak.peak = resource->live;
		resource->at_peak.peak_at = *now;
		resource->at_peak.peaks++;
	}
}

void account_advance(struct account *account, struct moment *now, const struct record_call *call)
{
	const struct trace_clock *clock = account->clock ? account->clock : &account->own_clock;

	if (!account->clock)
		clock_take(&account->own_clock, call);
	if (!account->has_begun) {
		account->has_begun = true;
		account->has_times = clock->has_times;
		account->wishes.mark = clock_span(clock, account->wishes.mark);
		account->first = *now;
		account->first.time_ns = clock->first_ns;
	}
	now->since = clock_since(clock, call);
	if (now->since < account->last.since)
		now->since = account->last.since;
	account->last = *now;
	if (account->wishes.has_mark && !account->mark_passed && now->since > account->wishes.mark) {
		account_keep_mark(account);
		account->mark_passed = true;
	}
}

bool resource_account_has_scan(const struct resource_account *resource)
{
	return resource->last_scan.scans && !*resource->last_scan.scan_reason;
}
