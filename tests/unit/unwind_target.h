/* Frames of its own stack that the target of the unwinder's tests records, in memory shared with the test. */
#ifndef FT_TESTS_UNWIND_TARGET_H
#define FT_TESTS_UNWIND_TARGET_H

#include <stdint.h>

#define TARGET_FRAMES_MAX 600

struct target_frame {
	uint64_t pc;     /* return address into this frame, or the interrupted instruction */
	uint64_t cfa;    /* of the frame below it; 0: unknown */
	uint64_t signal; /* the frame was interrupted by a signal */
};

struct target_report {
	uint64_t start, start_end; /* the program's entry */
	uint64_t count;
	struct target_frame frames[TARGET_FRAMES_MAX]; /* outermost first */
	uint64_t extra;                                /* scenario's own */
};

#endif
