/* The part of struct arch (arch.h) for signals, and conversions of a process's signal actions. */
#ifndef FT_ARCH_SIGNAL_H
#define FT_ARCH_SIGNAL_H

#include "arch/arch_memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A process's action for a signal. */
struct arch_action {
	uint64_t handler, flags, restorer, mask; /* mask: the first 64 signals */
};

/* The layout of a struct sigaction in memory, as offsets in bytes. */
struct action_layout {
	unsigned short size; /* number of bytes that are used */
	unsigned short handler, flags, mask;
	unsigned short restorer; /* 0: the struct has no restorer */
	unsigned char word;      /* size of handler and restorer in bytes */
	unsigned char flags_size;
};
#define ARCH_ACTION_MAX 160

/* The layout of signal actions, and of the frame that the kernel puts on the stack for a signal handler. */
struct arch_signal {
	struct action_layout kernel_action; /* the struct that rt_sigaction(2) reads */
	struct action_layout libc_action;   /* the struct that sigaction(3) reads */
	uint64_t action_flags;              /* flags that the C library sets together with a restorer; 0: none */
	/* Sets the addresses at which a signal frame contains the interrupted pc and sp. sp: the stack pointer at
	 * the handler's first instruction. Returns 0, or the -errno of `memory`. */
	int (*frame)(uint64_t sp, const struct arch_memory *memory, uint64_t *pc_at, uint64_t *sp_at);
	/* Returns true if four consecutive words on a stack belong to a signal frame without a stack_t (of
	 * sigaltstack(2)), and sets *sp to the interrupted sp. NULL if every frame has a stack_t. */
	bool (*frame_stack)(const uint64_t words[4], uint64_t *sp);
	/* Returns the offset in `code` of the first code to which signal handlers return (sa_restorer), or -1 if there
	 * is none. NULL if no library has such code. */
	long (*find_restorer)(const unsigned char *code, size_t size);
	/* For unwinding: the place of each DWARF register in a frame, as a distance in words from the place of the pc.
	 * NULL: the registers are in the order of their numbers. frame_return_size: number of bytes that the handler's
	 * return pops. After the return, the frame begins that many bytes below sp. */
	const signed char *frame_registers;
	unsigned frame_return_size;
	/* Sets *state to the state of the interrupted code, as the bits of code_state, from the word after the pc in
	 * the frame. Returns false if the code was interrupted inside a Thumb IT block (is_in_block). NULL if the
	 * processor has only one state. */
	bool (*frame_state)(uint64_t word, uint64_t *state);
	/* True: unwinding reads the registers from the frame even if the code to which handlers return has CFI,
	 * because this CFI is incomplete (on AArch64 it describes only a frame pointer). False: the registers are
	 * read from the frame only if that code has no CFI, as in musl. */
	bool frame_has_registers;
};

/* Convert between a struct sigaction in memory and its values. `bytes` has layout->size bytes. */
void action_pack(const struct action_layout *layout, const struct arch_action *action, unsigned char *bytes);
void action_unpack(const struct action_layout *layout, const unsigned char *bytes, struct arch_action *action);

#endif
