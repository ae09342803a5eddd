/* Rows: the call frame information for a range of code, in a form that can be applied within nanoseconds. A row is
 * made from libdw's answer when an address is first used, and is stored with the object. */
#ifndef FT_UNWIND_CFI_ROWS_H
#define FT_UNWIND_CFI_ROWS_H

#include "unwind/cfi.h"
#include "unwind/expression.h"

#define ROW_SAVED_MAX    12
#define ROW_REGISTER_MAX 64 /* maximum number of DWARF registers that are followed; masks have a bit for each */

enum row_kind {
	ROW_NORMAL,   /* CFA = register + offset; registers are saved at CFA + offset */
	ROW_RULES,    /* all other rules that can be computed: for PLTs, realigned stacks, signal frames, setcontext */
	ROW_END,      /* the return address is undefined: the outermost frame */
	ROW_SIGNAL,   /* a signal handler returns to the address; struct arch says where the registers are */
	ROW_START,    /* no rule, but a thread starts in this code */
	ROW_NONE,     /* no rule */
	ROW_SYSTEM,   /* no rule, and the address follows a CALL_SYSTEM; the code is analysed like interrupted code */
	ROW_OTHER,    /* a rule that rows cannot contain: a library walks the stack instead */
	ROW_LOST,     /* the code has changed sp in a way that its rule does not describe */
	ROW_NOT_CODE, /* no call returns to the address, so it is not a frame's pc */
};

/* How to compute a register of the caller, or the CFA. */
struct row_rule {
	enum {
		RULE_AT_CFA,   /* in memory at CFA + offset */
		RULE_CFA,      /* CFA + offset */
		RULE_REGISTER, /* register + offset */
		RULE_AT,       /* in memory at the expression's value */
		RULE_VALUE,    /* the expression's value */
	} kind;
	unsigned char target; /* number of the register that the rule computes */
	unsigned char base;   /* number of the base register of RULE_REGISTER */
	unsigned short op_count;
	int64_t offset;
	struct expression_op *ops;
};

struct row_rules {
	struct row_rule cfa; /* the kind is RULE_REGISTER or RULE_VALUE */
	unsigned count;
	struct row_rule items[];
};

/* The size is one cache line. */
struct row {
	uint64_t start; /* address in the file (p_vaddr) */
	uint64_t same;  /* mask of the registers that the frame does not change */
	uint32_t size;
	int32_t cfa_offset;
	unsigned char kind;
	unsigned char cfa_register;
	unsigned char saved_count;
	bool signal : 1;
	bool transient : 1;  /* true if the row is not stored: it is valid until the next rows_find() */
	bool calls_only : 1; /* true if valid after calls in the function, but not in its first instructions */
	/* made from code, not from a table (code_rule.h); the return address that it yields must follow a call */
	bool from_code : 1;
	bool sets_sp : 1; /* true if some code in the range changes sp in a way that the rule does not describe */
	/* ROW_NORMAL: numbers of the registers that are saved at CFA + offset; [0] is the return address. */
	unsigned char registers[ROW_SAVED_MAX];
	union {
		int16_t offsets[ROW_SAVED_MAX]; /* ROW_NORMAL: offsets from the CFA in bytes */
		struct row_rules *rules;        /* ROW_RULES and ROW_END */
	};
};

_Static_assert(sizeof(struct row) == 64, "a row is one cache line");

struct row_index {
	uint64_t start;
	struct row *row;
};

struct row_table {
	struct row_index *index; /* sorted by start */
	size_t count, capacity;
	struct row **chunks;
	size_t chunk_count, chunk_capacity, chunk_used;
	size_t bytes;
	struct row scratch;
};

/* Returns the row for an address of the file; never NULL. The row is valid as long as the table, unless it is
 * transient. */
const struct row *rows_find(struct row_table *table, struct cfi *cfi, const struct arch *arch, uint64_t address);
/* Returns true if the code of a row with sets_sp has changed sp before this address. */
bool row_lost_sp(const struct row *row, struct cfi *cfi, const struct arch *arch, uint64_t address);
void rows_free(struct row_table *table);

#endif
