/* A traced child in which single instructions run: in place, from a copy, or emulated. Its memory:
 *
 *   TEXT   r-x, all breakpoints except the instruction at HERE: wherever it jumps, the child stops
 *   DATA   rw-, within reach of TEXT, with STACK at its end
 *   slots  r-x, one page each, at given distances from TEXT
 *
 * and nothing else within 32 bits of TEXT.
 *
 * With ARENA_32 the child runs 32-bit code: a 64-bit process can, in the segment that the kernel has for that. */
#ifndef FT_TESTS_UNIT_ARCH_ARENA_H
#define FT_TESTS_UNIT_ARCH_ARENA_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "arch/arch.h"

#ifdef ARENA_32
#define ARENA_TEXT 0x60000000u
#else
#define ARENA_TEXT 0x200000000000u
#endif
#define ARENA_TEXT_SIZE 0x4000u
#define ARENA_HERE      (ARENA_TEXT + 0x1000)
#define ARENA_DATA      (ARENA_TEXT + 0x10000)
#define ARENA_DATA_SIZE 0x4000u
#define ARENA_STACK     (ARENA_DATA + 0x3000)
#define ARENA_XSTATE    16384 /* room for the extended registers: 11008 bytes with AMX */

enum arena_slot { SLOT_NEAR, SLOT_ABOVE, SLOT_BELOW, SLOT_FAR, ARENA_SLOTS };

extern const uint64_t arena_slots[ARENA_SLOTS];

/* All that an instruction can read or change. */
struct arena_state {
	struct arch_regs regs;
	unsigned char xstate[ARENA_XSTATE];
	size_t xstate_size;
	unsigned char data[ARENA_DATA_SIZE];
	int signal; /* signal with which the child stopped */
	int code;   /* si_code */
	uint64_t fault;
};

/* Returns the port of the tested instructions. */
const struct arch *arena_arch(void);

/* With ARENA_32, truncates the values of registers to what 32-bit code can have. Otherwise, changes only a stack
 * pointer with which this kernel does not resume a task. The registers always have the form of a 64-bit process. */
void arena_fit(struct arch_regs *regs);
/* Returns true if this kernel resumes a task with these registers. */
bool arena_can_resume(const struct arch_regs *regs);
/* Calls the port's emulate() on registers that have the form of a 64-bit process. */
int arena_emulate(const struct insn *insn, struct arch_regs *regs, const struct arch_memory *memory);

/* Returns the next number of a sequence that is the same in every run of a program. */
uint64_t arena_random(void);

/* Starts the child; *state gets its registers and extended registers. Returns 0, -errno if tracing is not allowed, or
 * -ENOEXEC if this machine does not run such code. In the last two cases, arena_skipped() prints the reason. */
int arena_start(struct arena_state *state);
void arena_skipped(int error);
void arena_end(void);

/* Writes code (or fills with breakpoints when `bytes` is NULL) anywhere in TEXT or a slot. */
void arena_code(uint64_t address, const unsigned char *bytes, size_t size);

/* Sets the child's registers and memory, lets it run to its next signal, and reads all back. If the child does not stop
 * within seconds, the test program ends. */
void arena_run(const struct arena_state *before, struct arena_state *after);

/* Single-steps the instruction at the pc; does not transfer the extended registers. */
void arena_step(const struct arena_state *before, struct arena_state *after);

/* Copy state->data to the child's memory, and back: before and after an emulation that uses arena_memory. */
void arena_put_data(const struct arena_state *state);
void arena_get_data(struct arena_state *state);
extern const struct arch_memory arena_memory;

/* The effect on an interrupted system call whose registers were changed by `change`. */
enum arena_interrupted {
	INTERRUPTED_SLEEPS, /* it sleeps again */
	INTERRUPTED_ENDED,  /* it returned */
	INTERRUPTED_CANNOT, /* no tracing here, or the kernel lacks the call */
};

/* Runs `function`, which must sleep in a system call for ever, in a new traced child. Stops the child, lets `change`
 * change its registers, and resumes it. The function returns -1 if it cannot begin to sleep. If `signal` is not 0, it
 * is sent while the child is stopped, and delivered; `change` is then called again, at the signal's stop. */
enum arena_interrupted arena_interrupt(int (*function)(void), bool (*change)(struct arch_regs *regs), int signal);

#endif
