/* A traced child in which single instructions run: natively where they stand, from a copy, or
 * emulated. Its memory:
 *
 *   TEXT   r-x, all breakpoints but for the instruction at HERE: wherever it leads, the child stops
 *   DATA   rw-, within reach of TEXT, STACK at its end
 *   slots  r-x, one page each, at given distances of TEXT
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

/* Everything that an instruction can read or change. */
struct arena_state {
	struct arch_regs regs;
	unsigned char xstate[ARENA_XSTATE];
	size_t xstate_size;
	unsigned char data[ARENA_DATA_SIZE];
	int signal; /* that it stopped with */
	int code;   /* si_code */
	uint64_t fault;
};

/* The port whose instructions they are. */
const struct arch *arena_arch(void);

/* Registers are those of a 64-bit process always; cuts values down to what 32-bit code can have, and the stack pointer
 * to what this kernel resumes. */
void arena_fit(struct arch_regs *regs);
/* Whether this kernel lets a task run on with them. */
bool arena_can_resume(const struct arch_regs *regs);
/* The port's emulate() on such registers. */
int arena_emulate(const struct insn *insn, struct arch_regs *regs, const struct arch_memory *memory);

/* The next number of a row that is the same in every run of a program. */
uint64_t arena_random(void);

/* Starts the child; its own registers and extended registers are in *state. 0, or -errno where this
 * machine does not let us trace, -ENOEXEC where it runs no such code: arena_skipped() prints which. */
int arena_start(struct arena_state *state);
void arena_skipped(int error);
void arena_end(void);

/* Writes code (or fills with breakpoints when `bytes` is NULL) anywhere in TEXT or a slot. */
void arena_code(uint64_t address, const unsigned char *bytes, size_t size);

/* Sets the child's registers and memory, lets it run to its next signal, and reads all back. A
 * child that does not stop within seconds ends the test program. */
void arena_run(const struct arena_state *before, struct arena_state *after);

/* Single-steps the one instruction at the pc; the extended registers are left alone. */
void arena_step(const struct arena_state *before, struct arena_state *after);

/* state->data to the child's memory and back, around an emulation by arena_memory. */
void arena_put_data(const struct arena_state *state);
void arena_get_data(struct arena_state *state);
extern const struct arch_memory arena_memory;

/* What became of a call that was interrupted by the tracer and whose registers `change` then
 * had. */
enum arena_interrupted {
	INTERRUPTED_SLEEPS, /* it sleeps again */
	INTERRUPTED_ENDED,  /* it returned */
	INTERRUPTED_CANNOT, /* no tracing here, or the kernel lacks the call */
};

/* Runs `function`, which is to sleep in a system call for ever, in a new traced child, and
 * interrupts it. It returns -1 if it cannot even begin. A `signal` other than 0 is sent while the
 * child is stopped, and delivered; `change` then has the registers at that stop, too. */
enum arena_interrupted arena_interrupt(int (*function)(void), bool (*change)(struct arch_regs *regs), int signal);

#endif
