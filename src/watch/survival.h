/* Survival of the samples of one stack: which share of them is still alive after each number of looks. */
#ifndef FT_WATCH_SURVIVAL_H
#define FT_WATCH_SURVIVAL_H

#include "watch/watch_data.h"

/* risk[k]: total weight of the tracks that were looked at for the k-th time; fail[k]: of those that failed then. */
struct hazards {
	double risk[LOOKS_MAX + 1], fail[LOOKS_MAX + 1];
};

struct survival {
	double passing[LOOKS_MAX + 1]; /* [k]: share of the samples that pass k looks */
	double alive[LOOKS_MAX + 1];   /* [k]: share of the samples whose blocks are alive at the k-th look */
};

/* Adds a track with this weight. has_failed: for a sample, that its fate is not FATE_PASSED. */
void hazards_add(struct hazards *h, const struct watch *w, const struct track *track, bool has_failed, double weight);
/* Returns the share of those that were there that failed at look k, shrunk towards `prior`, which has the weight
 * prior_weight. */
double hazard_at(const struct hazards *h, unsigned k, double prior, double prior_weight);

/* Computes the survival from the samples' hazards. reused[k]: the share of released addresses that pass k looks,
 * because another block has got the address; NULL: no address is used again. */
void survival_compute(struct survival *s, const struct hazards *samples, const double *reused, unsigned looks);

#endif
