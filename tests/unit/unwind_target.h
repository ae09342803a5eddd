/* The frames that the target of the unwinder's tests records of its stack, in memory that it shares with the test. */
#ifndef FT_TESTS_UNWIND_TARGET_H
#define FT_TESTS_UNWIND_TARGET_H

#include <stdint.h>

#define TARGET_FRAMES_MAX 600

struct target_frame {
	uint64_t pc;     /* return address into this frame, or the interrupted instruction */
	uint64_t cfa;    /* CFA of the frame that this one has called; 0: unknown */
	uint64_t signal; /* the frame was interrupted by a signal */
};

struct target_report {
	uint64_t start, start_end; /* the program's entry */
	uint64_t count;
	struct target_frame frames[TARGET_FRAMES_MAX]; /* outermost first */
	uint64_t extra;                                /* its meaning depends on the scenario */
};

#endif
