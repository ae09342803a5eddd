#include "config.h"
#include "watch/counting.h"
#include "watch/survival.h"
#include "base/util.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One estimate from samples. doc/WATCH.md describes the method. */

#define PRIOR_CLASS 5 /* weight of all controls' hazard beside that of a class, */
#define PRIOR_STACK 5 /* and of the classes' beside that of a stack */
#define LOST_PRIOR  3 /* controls that are not lost, beside those of a stack */
#define SAME_MIN    5 /* samples with the same contents, without which contents tell nothing */

/* How fast other blocks take released addresses. */
struct reuse {
	struct hazards all, *classes;
};

static bool is_lost(const struct sample *sample)
{
	return sample->fate == FATE_PASSED && sample->track.is_lost;
}

/* times: by window, how often it counts. */
static struct reuse reuse_of(const struct counting *e, const double *times)
{
	const struct watch *const w = e->w;
	struct reuse reuse = {.classes = xcalloc(w->class_count + 1, sizeof(*reuse.classes))};

	for (size_t i = 0; i < w->control_count; i++) {
		const struct track *const track = &w->controls[i].track;

		if (times[track->window] == 0 || track->is_lost)
			continue;
		const double weight = times[track->window] * track->count;

		hazards_add(&reuse.all, w, track, track->has_failed, weight);
		hazards_add(&reuse.classes[track->class_number], w, track, track->has_failed, weight);
	}
	return reuse;
}

/* Sums over a group of samples or controls. */
struct sums {
	struct hazards hazards;
	double all, dead, lost;
	double looked, same; /* samples with a look since; those of them with the same contents at their first look */
};

static struct sums sum_samples(const struct counting *e, const struct group *group, const double *times)
{
	struct sums sums = {0};

	for (size_t i = group->first; i < group->end; i++) {
		const struct sample *const sample = e->samples[i].sample;
		const double weight = times[sample->track.window] * sample->track.count;

		if (weight == 0)
			continue;
		if (is_lost(sample)) {
			sums.lost += weight;
			continue;
		}
		sums.all += weight;
		sums.dead += sample->fate != FATE_PASSED ? weight : 0;
		sums.looked += looks_due(e->w, &sample->track) ? weight : 0;
		sums.same += sample->is_same_first ? weight : 0;
		hazards_add(&sums.hazards, e->w, &sample->track, sample->fate != FATE_PASSED, weight);
	}
	return sums;
}

static struct sums sum_controls(const struct counting *e, const struct group *group, const double *times)
{
	struct sums sums = {0};

	for (size_t i = group->control_first; i < group->control_end; i++) {
		const struct track *const track = e->controls[i];
		const double weight = times[track->window] * track->count;

		if (weight == 0)
			continue;
		sums.all += weight;
		if (track->is_lost)
			sums.lost += weight;
		else
			hazards_add(&sums.hazards, e->w, track, track->has_failed, weight);
	}
	return sums;
}

/* Computes, for each look, the mean of the hazards of the group's samples in their size classes. */
static void class_hazards(const struct counting *e, const struct group *group, const struct reuse *reuse,
			  const double *times, double mean[LOOKS_MAX + 1])
{
	double of_class = 0, weights = 0;

	memset(mean, 0, (LOOKS_MAX + 1) * sizeof(*mean));
	for (size_t i = group->first; i < group->end; i++) {
		const struct sample *const sample = e->samples[i].sample;
		const uint32_t number = sample->track.class_number;

		of_class += is_lost(sample) ? 0 : times[sample->track.window] * sample->track.count;
		if (i + 1 < group->end && e->samples[i + 1].sample->track.class_number == number)
			continue;
		for (unsigned k = 1; k <= e->w->looks; k++) {
			const double all = hazard_at(&reuse->all, k, 0.5, 1);

			mean[k] += of_class * hazard_at(&reuse->classes[number], k, all, PRIOR_CLASS);
		}
		weights += of_class;
		of_class = 0;
	}
	for (unsigned k = 1; k <= e->w->looks; k++)
		mean[k] = weights > 0 ? mean[k] / weights : hazard_at(&reuse->all, k, 0.5, 1);
}

/* Computes the share of released addresses of a group that pass k looks. */
static void reused_of(const struct counting *e, const struct group *group, const struct reuse *reuse,
		      const struct hazards *controls, const double *times, double reused[LOOKS_MAX + 1])
{
	double prior[LOOKS_MAX + 1];

	class_hazards(e, group, reuse, times, prior);
	reused[0] = 1;
	for (unsigned k = 1; k <= e->w->looks; k++)
		reused[k] = reused[k - 1] * (1 - hazard_at(controls, k, prior[k], PRIOR_STACK));
}

/* Sets the chance of each sample of a group that its block is alive. reuse: NULL: as if no address were used again. */
static void set_chances(struct counting *e, const struct group *group, const struct reuse *reuse, const double *times,
			struct estimate *out)
{
	const unsigned looks = e->w->looks;
	const struct sums samples = sum_samples(e, group, times), controls = sum_controls(e, group, times);
	double reused[LOOKS_MAX + 1], lost_chance = 1, same_chance = 0, lost = 0;
	struct survival s;

	if (reuse)
		reused_of(e, group, reuse, &controls.hazards, times, reused);
	survival_compute(&s, &samples.hazards, reuse ? reused : NULL, looks);
	out->reused = reuse ? reused[1] : 0;
	/* The block that the scan calls lost may be another one, which got the address after the sampled block died.
	 * The program no longer writes to a lost block. So if the contents are known, and are still those of the
	 * window's end, the lost block is the sampled one. */
	if (reuse && samples.lost > 0)
		lost_chance = 1 - samples.dead * controls.lost / (controls.all + LOST_PRIOR) / samples.lost;
	lost_chance = lost_chance > 0 ? lost_chance : 0;
	/* If the contents tell blocks from later ones, what has kept them is alive, and so are some that have changed
	 * them. */
	if (reuse && samples.same >= SAME_MIN && samples.same >= 0.25 * samples.looked * s.alive[1])
		same_chance = s.alive[1] * samples.looked / samples.same;
	same_chance = same_chance > 0 && same_chance < 1 ? 1 : same_chance;
	out->knows_contents = same_chance > 0;
	for (size_t i = group->first; i < group->end; i++) {
		const struct sample *const sample = e->samples[i].sample;
		const unsigned due = looks_due(e->w, &sample->track);
		const double chance = s.passing[due] > 0 ? s.alive[due] / s.passing[due] : 0;

		if (is_lost(sample)) {
			e->chances[i] = !reuse || !sample->print ? lost_chance : sample->is_same;
			out->knows_contents |= e->chances[i] > 0 && sample->print;
			lost += times[sample->track.window] * e->chances[i];
		} else if (sample->fate != FATE_PASSED) {
			e->chances[i] = 0;
		} else if (same_chance > 0 && due) {
			e->chances[i] = sample->is_same ? same_chance : 0;
		} else {
			e->chances[i] = chance < 1 ? chance : 1;
		}
	}
	const unsigned half = looks * 9 / 20 ? looks * 9 / 20 : 1, whole = looks * 9 / 10 ? looks * 9 / 10 : 1;

	out->flat = s.alive[half] > 0 ? s.alive[whole] / s.alive[half] : 0;
	if (lost >= WATCH_OLD_MIN)
		out->flat = 1;
}

/* Sums over a class, in blocks. */
struct class_sums {
	double live, lost, growth;
	double passing; /* blocks for which the samples stand that have passed all looks */
};

static bool is_old_sample(const struct counting *e, const struct sample *sample)
{
	return looks_due(e->w, &sample->track) > e->w->looks / 2;
}

/* The growth is computed from the samples that are older than half of the horizon. Returns the factor that extrapolates
 * it to the whole horizon: half of the bytes of all samples / the bytes of the old ones; 0: no sample is old. */
static double growth_factor(const struct counting *e, const struct group *group, const double *times)
{
	double all = 0, old = 0;

	for (size_t i = group->first; i < group->end; i++) {
		const struct counted_sample *const one = &e->samples[i];
		const double bytes = times[one->sample->track.window] * one->weight * (double)one->sample->size *
				     one->sample->track.count;

		if (is_lost(one->sample))
			continue;
		all += bytes;
		old += is_old_sample(e, one->sample) ? bytes : 0;
	}
	return old > 0 ? all / 2 / old : 0;
}

static void sum_classes(const struct counting *e, const struct group *group, const double *times,
			const struct estimate *out, struct class_sums *classes)
{
	for (size_t i = group->first; i < group->end; i++) {
		const struct counted_sample *const one = &e->samples[i];
		const double blocks =
			times[one->sample->track.window] * one->weight * e->chances[i] * one->sample->track.count;
		struct class_sums *const sums = &classes[one->sample->track.class_number];

		if (is_lost(one->sample)) {
			sums->lost += blocks;
			continue;
		}
		sums->live += blocks;
		if (one->sample->fate == FATE_PASSED)
			sums->passing += times[one->sample->track.window] * one->weight * one->sample->track.count;
		sums->growth += is_old_sample(e, one->sample) ? out->growth_factor * blocks / (e->horizon / 2) : 0;
	}
}

/* Returns the factor by which a sum is scaled to what is possible. The factor is at most that by which all blocks of a
 * class count whose samples have passed all looks. */
static double bounded(const struct class_sums *sums, double sum, double least, double most)
{
	const double up = sum > 0 ? least / sum : 1, up_most = sums->live > 0 ? sums->passing / sums->live : 1;

	if (sum > most)
		return most > 0 ? most / sum : 0;
	return up <= 1 || up_most <= 1 ? 1 : up < up_most ? up : up_most;
}

/* Returns a lower bound for the number of live blocks of a class that are not lost: the difference between the last
 * count of the class's chunks and the first one, without the lost blocks. It is a bound because the program releases
 * blocks from before the watch, and allocates no further ones of these. */
static double least_of(const struct counting *e, size_t class_number, double lost)
{
	const struct census *const census = &e->w->classes[class_number];

	if (!is_counted(e->w, class_number) || census->since > e->w->looks)
		return 0;
	return (double)census->counts[e->w->looks] - (double)census->counts[census->since] - lost;
}

/* Sums a group. No class has more blocks than chunks in use, or fewer than these have become more. None grows faster or
 * slower than these, and the scan knows the number of lost blocks. */
static void sum_group(const struct counting *e, const struct group *group, const double *times,
		      const struct class_sums *classes, struct estimate *out)
{
	for (size_t i = group->first; i < group->end; i++) {
		const struct counted_sample *const one = &e->samples[i];
		const struct class_sums *const sums = &classes[one->sample->track.class_number];
		const struct census *const census = &e->w->classes[one->sample->track.class_number];
		const double lost = census->lost ? (double)census->lost : sums->lost, size = (double)one->sample->size;
		const double most = is_counted(e->w, one->sample->track.class_number)
					    ? (double)census->counts[e->w->looks] - lost
					    : INFINITY;
		const double sampled = times[one->sample->track.window] * e->chances[i];
		double blocks = sampled * one->weight * one->sample->track.count;

		*(is_old_sample(e, one->sample) ? &out->aged : &out->recent) += sampled * one->sample->track.count;
		if (is_lost(one->sample)) {
			blocks *= sums->lost > 0 ? lost / sums->lost : 1;
			out->lost += blocks * size;
			out->old += sampled;
		} else if (is_old_sample(e, one->sample)) {
			out->old += sampled;
			out->growth += out->growth_factor * blocks * size / (e->horizon / 2) *
				       bounded(sums, sums->growth,
					       e->least_slopes[one->sample->track.class_number] - lost / e->horizon,
					       e->slopes[one->sample->track.class_number]);
		}
		if (!is_lost(one->sample))
			blocks *= bounded(sums, sums->live, least_of(e, one->sample->track.class_number, lost), most);
		out->live += blocks * size;
		out->blocks += blocks;
	}
	out->growth += out->lost / e->horizon;
}

void estimate_once(struct counting *e, const double *times, bool knows_reuse, struct estimate *out)
{
	struct class_sums *const classes = xcalloc(e->w->class_count + 1, sizeof(*classes));
	struct reuse reuse = {0};

	if (knows_reuse)
		reuse = reuse_of(e, times);
	memset(out, 0, e->group_count * sizeof(*out));
	for (size_t i = 0; i < e->group_count; i++) {
		set_chances(e, &e->groups[i], knows_reuse ? &reuse : NULL, times, &out[i]);
		out[i].growth_factor = growth_factor(e, &e->groups[i], times);
		sum_classes(e, &e->groups[i], times, &out[i], classes);
	}
	for (size_t i = 0; i < e->group_count; i++)
		sum_group(e, &e->groups[i], times, classes, &out[i]);
	free(reuse.classes);
	free(classes);
}
