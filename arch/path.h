/* Follows code along a path, instruction by instruction, until the function returns, and computes the origin of the
 * registers' values. This is used for code without unwind tables. */
#ifndef FT_ARCH_PATH_H
#define FT_ARCH_PATH_H

#include "arch/arch.h"

#define PATH_REGISTERS 34 /* maximum number of DWARF registers in a port */
#define PATH_WORDS     64 /* maximum number of words that a path has stored on the stack */

/* How a value is described, relative to the registers' values at the start of the path. */
enum path_kind {
	PATH_UNKNOWN,
	PATH_REGISTER, /* first value of register `base` plus the offset */
	PATH_MEMORY,   /* the word in memory at the first value of register `base` plus the offset */
	PATH_NUMBER,   /* a constant, which is in `offset` */
};

struct path_value {
	unsigned char kind, base; /* kind: enum path_kind; base: DWARF number of a register */
	int32_t offset;
};

/* A word that the path has stored on the stack, at the first value of register `base` plus `place`. */
struct path_word {
	unsigned char base;
	int32_t place;
	struct path_value value;
};

struct path_state {
	const struct arch *arch;
	uint64_t address; /* address of the next instruction, with the bits of code_state */
	struct path_value registers[PATH_REGISTERS];
	struct path_word words[PATH_WORDS];
	unsigned char word_count;
	unsigned char conditional; /* number of next instructions that depend on a condition (Thumb's IT block) */
	bool has_called;           /* true if there was a call on the path */
	/* Memory below this offset from the sp at the start of the path may have changed, because called functions use
	 * it. */
	int32_t dead_below;
};

/* Where the path continues after an instruction. */
enum path_next {
	PATH_NEXT,   /* at the next instruction */
	PATH_JUMP,   /* at the target */
	PATH_BRANCH, /* at the next instruction or at the target */
	PATH_RETURN, /* in the caller: the registers are the caller's, and pc is the return address */
	PATH_MAYBE,  /* in the caller, or at the next instruction: a conditional return */
	PATH_END,    /* the path ends, or continues at an unknown address */
};

struct path_step {
	enum path_next next;
	uint64_t target;
	bool is_jump;               /* PATH_RETURN: by an indirect jump, of a tail call or perhaps of a switch */
	struct path_value pc;       /* PATH_RETURN, PATH_MAYBE: the return address */
	struct path_state returned; /* PATH_MAYBE: the state in the caller */
};

/* ---- Helpers for the ports: path.c ---- */

/* Begins a path at a function's entry, or after a call. After a call only sp and the preserved registers are known. */
void path_begin(struct path_state *state, const struct arch *arch, uint64_t address, bool is_entry);
/* Returns the value that a load of a pointer's size from the address `place` yields. */
struct path_value path_load(const struct path_state *state, struct path_value place);
/* Returns a value plus a number; unknown if the value is not a PATH_REGISTER, or if the sum's offset exceeds 32
 * bits. */
struct path_value path_sum(struct path_value value, int64_t number);
/* Adds `change` to sp, and discards the words that are below sp afterwards. Returns false if sp is unknown. */
bool path_move_sp(struct path_state *state, int64_t change);
/* Remembers a word that was stored at an address, in place of an earlier word there. Does nothing if the address is not
 * a PATH_REGISTER. Returns false if there is no room for the word. */
bool path_store(struct path_state *state, struct path_value place, struct path_value value);
/* Returns true if `number` is one of the system calls in `numbers`, after which the code does not continue: exit,
 * sigreturn. */
bool path_ends(struct path_value number, const unsigned short *numbers, size_t count);
/* Follows a call that returns: all registers except sp and the preserved ones, and the memory below sp, become unknown.
 * preserved: mask of registers. */
void path_call(struct path_state *state, uint64_t preserved);

static inline bool path_same(struct path_value a, struct path_value b)
{
	return a.kind == b.kind && (a.kind == PATH_UNKNOWN || (a.base == b.base && a.offset == b.offset));
}

static inline void path_forget(struct path_state *state, unsigned reg)
{
	if (reg < PATH_REGISTERS)
		state->registers[reg].kind = PATH_UNKNOWN;
}

#endif
