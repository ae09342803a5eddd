/* Selects the calls that are shown: by context, by event number, by addresses of frames, and by filters of their
 * allocations. */
#ifndef FT_ANALYSIS_SELECT_SELECT_H
#define FT_ANALYSIS_SELECT_SELECT_H

#include "analysis/select/call_address.h"
#include "analysis/select/filter.h"
#include "analysis/stage.h"

/* Event numbers from a file, one in each line, decimal or hexadecimal with 0x. Blank lines and lines that begin with #
 * are skipped. */
struct index_set {
	uint64_t *items; /* ascending */
	size_t count, capacity;
};

/* Reads a file. Returns 0, or a negative errno: that of reading, or -EINVAL if line *line (from 1) is not a number. */
int index_set_read(struct index_set *set, const char *path, size_t *line);
bool index_set_has(const struct index_set *set, uint64_t index);
void index_set_free(struct index_set *set);

struct select_options {
	bool by_context; /* -C: calls in one of the contexts, or outside of all if the mask is 0 */
	uint32_t context_mask;
	const char *context_names; /* names with commas, for contexts that are added to the mask; NULL: none */
	const struct index_set *include, *exclude; /* NULL: no such filter */
	const struct call_address *call_address;   /* NULL: no such filter */
	const char *sysroot;                       /* where the ELF files are; NULL: / */
	/* true: a release is selected with its allocation, because the output counts what is alive. false: each call is
	 * selected by itself, because the output shows calls. */
	bool by_allocation;
	/* If it accepts an allocation, the release is accepted too, whatever the output is. NULL: no filter. The
	 * caller's. */
	struct filter *filter;
};

/* Makes the stage. What the options point to belongs to the caller, and outlives the stage. */
struct stage *select_new(struct stage *next, const struct select_options *options);

/* Adds a declared context to the mask if -C names it. To be called for each context of the trace. */
void select_learn_context(struct select_options *options, const struct record_context *context);

/* Returns true if -C chooses the call. */
bool select_in_context(const struct select_options *options, const struct record_call *call);

/* Gives the stage an object that the trace declares only after calls that go through it. */
void select_learn(struct stage *stage, const struct record_object *object);

/* Returns how many calls were let through. */
uint64_t select_count(const struct stage *stage);

#endif
