/* Declarations that the files of an account share. Private to profile/. */
#ifndef FT_PROFILE_ACCOUNT_PARTS_H
#define FT_PROFILE_ACCOUNT_PARTS_H

#include "profile/account.h"

/* A live resource. */
struct account_block {
	struct account_block *next_unused;
	uint64_t size;
	struct moment born;
	struct site *site;
	struct thread_account *thread; /* thread that allocated it; NULL: unknown */
	uint64_t references;
	uint64_t lost_scan; /* number of the last scan that has found the block lost; 0: none */
	enum lost_kind lost;
	bool is_before; /* allocated before the trace; `born` is the time of the baseline */
};

/* Returns the index of the bucket for blocks of this size. */
static inline unsigned account_size_bucket(uint64_t size)
{
	return size ? 64 - (unsigned)__builtin_clzll(size) : 0;
}

/* The next four functions return a part of the account, which the account owns. They add the part if it does not exist
 * yet. */
struct resource_account *account_resource(struct account *account, struct resource_state *which);
/* Returns the counts of a function. If `function` is NULL, the function is unknown and is counted as "?". */
struct function_stats *account_function(struct account *account, struct resource_account *resource,
					const char *function);
/* Returns the thread of the present call; returns NULL if it is unknown. */
struct thread_account *account_thread(struct account *account, struct resource_account *resource);
/* Returns the site with the call's stack and the function, whose name must be interned. now: the time of the call; if
 * the site is new, this is the time of its first call. */
struct site *account_site(struct resource_account *resource, const struct record_call *call, const char *function,
			  const struct moment *now);
void resource_account_free(struct resource_account *resource);

/* Copies the site's `live` to the moments that have passed since `live` last changed, and to at_peak if the kind of
 * resource has reached a new peak since then. Call it before the site's `live` changes. */
void account_settle_site(const struct resource_account *resource, struct site *site);
/* Raise the peak of the site, or that of the kind of resource, to what is alive now. */
void account_count_site_peak(const struct resource_account *resource, struct site *site);
void account_count_peak(struct resource_account *resource, const struct moment *now);
/* Makes `now`, which has members index, number and time_ns, the account's present moment: sets its `since`. */
void account_advance(struct account *account, struct moment *now, const struct record_call *call);
/* Implements account_put() for records of type RECORD_ESTIMATE and RECORD_INTERVAL. */
void account_put_estimate(struct account *account, const struct record_estimate *estimate);
void account_put_interval(struct account *account, const struct record_interval *interval);
/* Sets the figures of the site that account_end() computes from its estimate. */
void account_end_estimate(struct resource_account *resource, struct site *site, const struct moment *end);
/* Then notes the lost bytes of which the stacks are not known: a scan finds all, and a watch samples stacks. */
void account_end_unattributed(struct account *account, struct resource_account *resource);
/* Stores the present counts as those at the account's mark (struct account_wishes). */
void account_keep_mark(struct account *account);

#endif
