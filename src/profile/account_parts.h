/* Declares what the files of an account share. Private to profile/. */
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
	uint64_t lost_scan; /* number of the last scan that has found it lost; 0: none */
	enum lost_kind lost;
	bool is_before; /* allocated before the trace; `born` is the time of the baseline */
};

/* Return a part of the account, which they add if it is new. The account owns it. */
struct resource_account *account_resource(struct account *account, struct resource_state *which);
/* function: NULL counts as "?". */
struct function_stats *account_function(struct account *account, struct resource_account *resource,
					const char *function);
/* Returns the thread of the calls that follow; NULL if it is unknown. */
struct thread_account *account_thread(struct account *account, struct resource_account *resource);
/* Returns the site of the call's stack and of the function, which is interned. */
struct site *account_site(struct resource_account *resource, const struct record_call *call, const char *function,
			  const struct moment *now);
void resource_account_free(struct resource_account *resource);

/* Call it before the site's live tally changes: keeps that tally for the moments and peaks that have passed. */
void account_settle_site(const struct resource_account *resource, struct site *site);
/* Keeps the present figures as those of the mark. */
void account_keep_mark(struct account *account);

#endif
