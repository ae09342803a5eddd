/* Selects calls by context, by event number, by addresses of frames, and by filters of their allocations. */
#ifndef FT_ANALYSIS_SELECT_SELECT_H
#define FT_ANALYSIS_SELECT_SELECT_H

#include "analysis/select/call_address.h"
#include "analysis/select/filter.h"
#include "analysis/stage.h"

/* Event numbers from a file with one number per line, decimal or hexadecimal with 0x. Blank lines and lines that begin
 * with # are skipped. */
struct index_set {
	uint64_t *items; /* the event numbers, in ascending order */
	size_t count, capacity;
};

/* Reads a file. Returns 0, or a negative errno if reading failed. If a line is not a number, returns -EINVAL and sets
 * *line to the line's number, counted from 1. */
int index_set_read(struct index_set *set, const char *path, size_t *line);
bool index_set_has(const struct index_set *set, uint64_t index);
void index_set_free(struct index_set *set);

struct select_options {
	/* -C: select calls in one of the contexts; with mask 0 and no names, calls outside of all contexts */
	bool by_context;
	uint32_t context_mask;
	/* names of contexts to be added to the mask, separated by commas; NULL: none */
	const char *context_names;
	const struct index_set *include, *exclude; /* NULL if there is no such filter */
	const struct call_address *call_address;   /* NULL if there is no such filter */
	const char *sysroot;                       /* folder that contains the ELF files; NULL: / */
	/* true: a release is selected if its allocation is, because the output counts live blocks. false: each call is
	 * judged by itself, because the output is a list of calls. */
	bool by_allocation;
	/* Filter of allocations, owned by the caller; NULL: no filter. If it accepts an allocation, it accepts the
	 * release, too, even if by_allocation is false. */
	struct filter *filter;
};

/* Makes the stage. The caller owns the data to which the options point; they must outlive the stage. */
struct stage *select_new(struct stage *next, const struct select_options *options);

/* Adds a declared context to the mask if -C names it. Must be called for each declared context. */
void select_learn_context(struct select_options *options, const struct record_context *context);

/* Returns true if -C chooses the call. */
bool select_in_context(const struct select_options *options, const struct record_call *call);

/* Tells the stage in advance about an object that the trace declares only after calls that go through it. */
void select_learn(struct stage *stage, const struct record_object *object);

/* Returns the number of calls that were selected. */
uint64_t select_count(const struct stage *stage);

#endif
