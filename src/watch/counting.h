/* The samples of a watch that count for an estimate, by stack, and the estimate of each stack. */
#ifndef FT_WATCH_COUNTING_H
#define FT_WATCH_COUNTING_H

#include "watch/watch_data.h"

/* A sample that counts: its block was alive at the end of its window. */
struct counted_sample {
	const struct sample *sample;
	double weight; /* number of blocks for which it stands */
};

/* The samples and controls of one stack. */
struct group {
	uint32_t stack;
	size_t first, end;                 /* in struct counting's samples */
	size_t control_first, control_end; /* in its controls */
};

struct counting {
	const struct watch *w;
	struct counted_sample *samples; /* by stack and class */
	size_t count;
	const struct track **controls; /* of the controls whose stack is known, by stack and class */
	size_t control_count;
	struct group *groups;
	size_t group_count, group_capacity;
	double *slopes;       /* by class: chunks a second that it grows at most, */
	double *least_slopes; /* and at least */
	double horizon;       /* s, from the watch's begin to the last look */
	double share;         /* of the work that was done in windows */
	double *shares;       /* by window: of the work around it */
	double *chances;      /* by sample: that its block is alive */
};

/* An estimate of one stack. */
struct estimate {
	double growth_factor;      /* extrapolates the growth of the old samples to the horizon */
	double live, growth, lost; /* bytes, bytes a second, bytes */
	double blocks, old;        /* live blocks; sampled survivors older than half of the horizon */
	double flat;               /* share of the half-aged that live on to nearly the whole age */
	double aged, recent;       /* survivors that are older than half of the horizon, and the others */
	double reused;             /* share of released addresses that pass the next look */
	bool knows_contents;       /* the contents of blocks tell them from later ones at their addresses */
};

/* Chooses the samples. The watch has a window and a look, and must not change until counting_end(). */
void counting_begin(struct counting *e, const struct watch *w);
void counting_end(struct counting *e);

/* Estimates all groups, in their order. times: by window, how often it counts. knows_reuse: false: as if no address
 * were used again, which gives an upper bound. */
void estimate_once(struct counting *e, const double *times, bool knows_reuse, struct estimate *out);

#endif
