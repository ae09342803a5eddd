/* What code does with the frame that it runs in, read instruction by instruction along a path: where registers' values
 * come from, until the function returns. For code that no table describes. */
#ifndef FT_ARCH_PATH_H
#define FT_ARCH_PATH_H

#include "arch/arch.h"

#define PATH_REGISTERS 34 /* at most, by DWARF's numbers */
#define PATH_WORDS     64 /* that the path itself has put on the stack and not yet taken off */

/* A value, in terms of what registers held where the path begins. */
enum path_kind {
	PATH_UNKNOWN,
	PATH_REGISTER, /* what the register held, plus the offset */
	PATH_MEMORY,   /* the word that lies there */
	PATH_NUMBER,   /* a number that the code gives: the offset */
};

struct path_value {
	unsigned char kind, base; /* enum path_kind; DWARF's number */
	int32_t offset;
};

/* A word that the path has put on the stack; its place is the base's value plus the offset. */
struct path_word {
	unsigned char base;
	int32_t place;
	struct path_value value;
};

struct path_state {
	const struct arch *arch;
	uint64_t address; /* of the next instruction, with the bits of code_state */
	struct path_value registers[PATH_REGISTERS];
	struct path_word words[PATH_WORDS];
	unsigned char word_count;
	unsigned char conditional; /* instructions to come that a condition rules (Thumb's IT block) */
	bool has_called;           /* the path has made a call */
	/* Memory below this offset from what sp was at the beginning has no value of before: the functions that are
	 * called use it. */
	int32_t dead_below;
};

/* How the path goes on behind an instruction. */
enum path_next {
	PATH_NEXT,   /* with the next one */
	PATH_JUMP,   /* at the target */
	PATH_BRANCH, /* at either */
	PATH_RETURN, /* in the caller: the registers are the caller's, pc is the return address */
	PATH_MAYBE,  /* so, or with the next one: a return under a condition */
	PATH_END,    /* nowhere, or that is not known */
};

struct path_step {
	enum path_next next;
	uint64_t target;
	bool is_jump;               /* PATH_RETURN: by an indirect jump, which may be a switch's */
	struct path_value pc;       /* PATH_RETURN and PATH_MAYBE */
	struct path_state returned; /* PATH_MAYBE: the registers of the caller */
};

/* ---- What the ports share: path.c ---- */

/* The beginning of a path: a function's entry, or behind a call, which leaves preserved registers only. */
void path_begin(struct path_state *state, const struct arch *arch, uint64_t address, bool is_entry);
/* What a load of a pointer's size finds there. */
struct path_value path_load(const struct path_state *state, struct path_value place);
/* A value plus a number; of other kinds than PATH_REGISTER unknown. */
struct path_value path_sum(struct path_value value, int64_t number);
/* Changes sp by `change`, forgetting the words that are no longer on the stack. False: sp is not known. */
bool path_move_sp(struct path_state *state, int64_t change);
/* Notes a word that was stored at the place, in the place of what was there. False: there is no room to remember it. */
bool path_store(struct path_state *state, struct path_value place, struct path_value value);
/* Whether the number of a system call is one of those after which the code does not go on: exit, sigreturn. */
bool path_ends(struct path_value number, const unsigned short *numbers, size_t count);
/* A call that returns: all but preserved registers are lost, and what lies below sp. `preserved` is a mask. */
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
