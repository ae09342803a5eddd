/* The three outputs of mpatrol_outputs.c. Each of them gets the events one by one. */
#ifndef FT_ANALYSIS_MPATROL_MPATROL_PARTS_H
#define FT_ANALYSIS_MPATROL_MPATROL_PARTS_H

#include "analysis/tally.h"
#include "base/hash.h"
#include "trace/mpatrol/mpatrol.h"

#include <stdio.h>

struct mpatrol_table {
	FILE *file;
	bool wide; /* print addresses with 16 digits, not 8 */
	uint64_t events;
	struct tally allocated, freed, live, peak, reserved, internal;
	uint64_t smallest, largest;
	struct hash blocks; /* index of a block -> its index in `sizes` */
	struct mpatrol_block {
		uint64_t size, born; /* born: number of the event that allocated the block */
	} * sizes;
	size_t size_count, size_capacity;
	size_t *unused; /* indexes of unused entries of `sizes` */
	size_t unused_count, unused_capacity;
};

/* Writes the head of the table. `file` and `wide` must be set. */
void mpatrol_table_begin(struct mpatrol_table *table);
void mpatrol_table_put(struct mpatrol_table *table, const struct mpatrol_event *event);
/* Writes the statistics. */
void mpatrol_table_end(struct mpatrol_table *table);
/* Frees the memory of `table`. Does not close its file. */
void mpatrol_table_free(struct mpatrol_table *table);

void mpatrol_hatf_begin(FILE *file, const char *name);
void mpatrol_hatf_put(FILE *file, bool wide, const struct mpatrol_event *event);

struct mpatrol_sim {
	FILE *file;
	struct hash slots; /* index of a block -> its index in the array of the generated program */
	size_t *unused;
	size_t unused_count, unused_capacity, slot_count;
};

void mpatrol_sim_begin(struct mpatrol_sim *sim, const char *name);
void mpatrol_sim_put(struct mpatrol_sim *sim, const struct mpatrol_event *event);
/* Writes the rest of the generated program. */
void mpatrol_sim_end(struct mpatrol_sim *sim);
/* Frees the memory of `sim`. Does not close its file. */
void mpatrol_sim_free(struct mpatrol_sim *sim);

#endif
