/* What the parts of an account share. Private to profile/. */
#ifndef FT_PROFILE_ACCOUNT_PARTS_H
#define FT_PROFILE_ACCOUNT_PARTS_H

#include "profile/account.h"

/* A live resource. */
struct account_block {
	struct account_block *next_unused;
	uint64_t size;
	struct moment born;
	struct site *site;
	struct thread_account *thread; /* NULL unknown */
	uint64_t references;
	uint64_t lost_scan; /* that has said last that it is lost: its number; 0 none */
	enum lost_kind lost;
	bool is_before; /* born before the trace: `born` is when the baseline was */
};

/* What is found by these, or made; the account's. */
struct resource_account *account_resource(struct account *account, struct resource_state *which);
/* NULL: "?". */
struct function_stats *account_function(struct account *account, struct resource_account *resource,
					const char *function);
/* Of the calls that come now; NULL unknown. */
struct thread_account *account_thread(struct account *account, struct resource_account *resource);
/* Of the call's stack and the function, which is interned. */
struct site *account_site(struct resource_account *resource, const struct record_call *call, const char *function,
			  const struct moment *now);
void resource_account_free(struct resource_account *resource);

/* Before the site's live tally changes: what it was at the moments and peaks that have passed. */
void account_settle_site(const struct resource_account *resource, struct site *site);
/* Keeps what the mark's figures are now. */
void account_keep_mark(struct account *account);

#endif
