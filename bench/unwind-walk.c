/* What one walk costs, by rows and by libunwind: a program is stepped until its stack has as many
 * frames as wanted, and that snapshot is walked again and again, nothing else being read.
 *
 *   bench/unwind-walk [FRAMES [PROGRAM ARGS...]]    17 frames of git by default */
#include "config.h"
#include "unwind_tracee.h"
#include "base/util.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS     9
#define FRAMES_MAX 256
#define STEPS_MAX  5000000

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(const char *name, struct unwinder *unwinder,
		    const struct stack_snapshot *snapshot, size_t frames, unsigned walks)
{
	struct unwind_frame result[FRAMES_MAX];
	double rounds[ROUNDS];
	bool cut;

	for (size_t i = 0; i < ROUNDS; i++) {
		const uint64_t start = clock_ns(CLOCK_MONOTONIC);

		for (unsigned k = 0; k < walks; k++)
			unwind_stack(unwinder, snapshot, result, frames, 0, &cut);
		rounds[i] = (double)(clock_ns(CLOCK_MONOTONIC) - start) / 1000 / walks;
	}
	qsort(rounds, ROUNDS, sizeof(rounds[0]), compare);
	printf("%-10s %8.3f us a walk (median of %d rounds; best %.3f, worst %.3f)\n", name,
	       rounds[ROUNDS / 2], ROUNDS, rounds[0], rounds[ROUNDS - 1]);
}

int main(int argc, char **argv)
{
	static const char *const git[] = {"git", "log", "--stat", NULL};
	const char *const *program = argc > 2 ? (const char *const *)(argv + 2) : git;
	const size_t wanted = argc > 1 ? strtoul(argv[1], NULL, 10) : 17;
	struct unwind_frame frames[FRAMES_MAX];
	size_t count = 0;
	bool cut = true;

	if (wanted < 1 || wanted > FRAMES_MAX) {
		fprintf(stderr, "usage: unwind-walk [FRAMES [PROGRAM ARGS...]], 1 to %d frames\n",
			FRAMES_MAX);
		return 2;
	}
	struct tracee *tracee = tracee_start(program, open("/dev/null", O_WRONLY));

	for (unsigned i = 0; tracee && i < STEPS_MAX && (count < wanted || cut); i++) {
		if (!tracee_step(tracee))
			break;
		if (i % 16)
			continue;
		tracee_snapshot(tracee, TRACEE_STACK, i % 4096 == 0);
		count = unwind_stack(tracee->rows, &tracee->snapshot, frames, FRAMES_MAX, 0, &cut);
	}
	if (!tracee || count < wanted || cut) {
		fprintf(stderr, "%s never had a stack of %zu frames\n", program[0], wanted);
		return 1;
	}
	printf("%zu of %zu frames of %s\n", wanted, count, program[0]);
	measure("rows", tracee->rows, &tracee->snapshot, wanted, 100000);
	measure("libunwind", tracee->libunwind, &tracee->snapshot, wanted, 5000);
	tracee_end(tracee);
	return 0;
}
