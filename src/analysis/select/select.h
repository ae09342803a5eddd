/* Which calls are shown: by context, event number, and the addresses of their frames; and by what a filter asks of
 * their allocations. */
#ifndef FT_ANALYSIS_SELECT_SELECT_H
#define FT_ANALYSIS_SELECT_SELECT_H

#include "analysis/select/call_address.h"
#include "analysis/select/filter.h"
#include "analysis/stage.h"

/* Event numbers from a file, one a line, decimal, 0x hexadecimal or 0 octal; blank lines and those
 * that begin with # are skipped. */
struct index_set {
	uint64_t *items; /* ascending */
	size_t count, capacity;
};

/* 0, or a negative errno: of reading, or -EINVAL with *line (from 1) where it is no number. */
int index_set_read(struct index_set *set, const char *path, size_t *line);
bool index_set_has(const struct index_set *set, uint64_t index);
void index_set_free(struct index_set *set);

struct select_options {
	bool by_context; /* -C: calls with one of the contexts, or with none if the mask is 0 */
	uint32_t context_mask;
	const char *context_names; /* ... whose names stand here, with commas: they are added to the mask as they are
				      declared. NULL: the mask alone */
	const struct index_set *include, *exclude; /* NULL: no such filter */
	const struct call_address *call_address;   /* NULL: no such filter */
	const char *sysroot;                       /* where the ELF files are; NULL / */
	/* A release goes with its allocation: what is made of the trace counts what is alive. Else by its own call, as
	 * it is to be seen. */
	bool by_allocation;
	/* What it says of an allocation holds for its release, too, whatever is made of the trace. NULL: no filter. The
	 * caller's. */
	struct filter *filter;
};

/* What the options point at belongs to the caller and outlives the stage. */
struct stage *select_new(struct stage *next, const struct select_options *options);

/* To be called for each context that the trace declares: one that is named is in the mask from then on. */
void select_learn_context(struct select_options *options, const struct record_context *context);

/* Whether -C chooses the call. */
bool select_in_context(const struct select_options *options, const struct record_call *call);

/* Gives the stage an object that the trace declares too late, behind calls that go through it. */
void select_learn(struct stage *stage, const struct record_object *object);

/* How many calls were let through. */
uint64_t select_count(const struct stage *stage);

#endif
