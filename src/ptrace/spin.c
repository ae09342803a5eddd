/* Decides by timing whether to poll or to sleep: see spin.h. */
#include "config.h"
#include "ptrace/spin.h"

#define TRIAL       8 /* number of timed waits with each method */
#define PAUSE_FIRST 128
#define PAUSE_LAST  65536
#define LONGEST_NS  200000u /* longer waits count as this long: polling or sleeping hardly changes their length */

static bool is_trial(const struct spin *spin)
{
	return !spin->waits;
}

bool spin_begin(struct spin *spin, bool *timed)
{
	*timed = is_trial(spin);
	/* A trial uses the current method first, then the other. */
	return *timed && spin->in_trial >= TRIAL ? !spin->polls : spin->polls;
}

static void end_trial(struct spin *spin)
{
	const uint64_t present = spin->spent[spin->polls], other = spin->spent[!spin->polls];

	/* Change the method only if the other one is faster by more than a tenth, because otherwise two methods of
	 * about the same speed would alternate. */
	if (other < present - present / 10) {
		spin->polls = !spin->polls;
		spin->pause = 0;
	}
	spin->pause = !spin->pause ? PAUSE_FIRST : spin->pause >= PAUSE_LAST / 2 ? PAUSE_LAST : 2 * spin->pause;
	spin->waits = spin->pause;
	spin->in_trial = 0;
	spin->spent[0] = spin->spent[1] = 0;
}

void spin_done(struct spin *spin, bool timed, uint64_t ns, bool in_vain)
{
	if (!timed) {
		/* A wait that polled in vain shows that the target behaves differently now, so the next trial comes
		 * sooner. */
		if (in_vain && spin->waits > TRIAL)
			spin->waits /= 2;
		else
			spin->waits--;
		return;
	}
	const bool polled = spin->in_trial >= TRIAL ? !spin->polls : spin->polls;

	spin->spent[polled] += ns < LONGEST_NS ? ns : LONGEST_NS;
	spin->in_trial++;
	/* If the current method is sleeping, and polling was in vain in the second polling wait of the trial or in a
	 * later one, end the trial and keep sleeping as the method. */
	if (in_vain && polled && !spin->polls && spin->in_trial >= TRIAL + 2) {
		spin->spent[true] = UINT64_MAX;
		spin->in_trial = 2 * TRIAL;
	}
	if (spin->in_trial == 2 * TRIAL)
		end_trial(spin);
}
