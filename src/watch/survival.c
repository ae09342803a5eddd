#include "config.h"
#include "watch/survival.h"

void hazards_add(struct hazards *h, const struct watch *w, const struct track *track, bool has_failed, double weight)
{
	const unsigned due = looks_due(w, track), passed = track->passed;
	const unsigned last = passed + has_failed < due ? passed + has_failed : due;

	for (unsigned k = 1; k <= last; k++)
		h->risk[k] += weight;
	if (has_failed && passed + 1 <= due)
		h->fail[passed + 1] += weight;
}

double hazard_at(const struct hazards *h, unsigned k, double prior, double prior_weight)
{
	return (h->fail[k] + prior_weight * prior) / (h->risk[k] + prior_weight);
}

/* A sample passes k looks if its block is alive then, or if the block has died before look j and another block has
 * taken the address, which then passes like a released address of the control group:
 *
 *	passing[k] = alive[k] + sum over j <= k of (alive[j - 1] - alive[j]) * reused[k - j + 1]
 *
 * This is solved for alive[k], one look after the other. */
void survival_compute(struct survival *s, const struct hazards *samples, const double *reused, unsigned looks)
{
	s->passing[0] = s->alive[0] = 1;
	for (unsigned k = 1; k <= looks; k++) {
		const double failing = samples->risk[k] > 0 ? samples->fail[k] / samples->risk[k] : 0;
		double alive = s->passing[k] = s->passing[k - 1] * (1 - failing);

		for (unsigned j = 1; reused && j < k; j++)
			alive -= (s->alive[j - 1] - s->alive[j]) * reused[k - j + 1];
		/* If nearly all released addresses pass, the samples tell nothing, and the quotient is bounded. */
		if (reused)
			alive = (alive - s->alive[k - 1] * reused[1]) / (reused[1] < 0.999 ? 1 - reused[1] : 0.001);
		alive = alive > 0 ? alive : 0;
		s->alive[k] = alive < s->alive[k - 1] ? alive : s->alive[k - 1];
	}
}
