/* Rows: the call frame information for a range of code, in a form that is applied in some nanoseconds. A row is made
 * from libdw's answer when an address is first used, and kept with the object. */
#ifndef FT_UNWIND_ROWS_H
#define FT_UNWIND_ROWS_H

#include "unwind/cfi.h"
#include "unwind/expression.h"

#define ROW_SAVED_MAX    12
#define ROW_REGISTER_MAX 64 /* limit of DWARF registers that are followed, as bits of a mask */

enum row_kind {
	ROW_NORMAL,   /* CFA = register + offset, registers saved at CFA + offset */
	ROW_RULES,    /* all other rules that can be computed: PLT, realigned stacks, signal frames, setcontext */
	ROW_END,      /* the return address is undefined: the outermost frame */
	ROW_SIGNAL,   /* a signal handler returns there: the processor's table says where the registers are */
	ROW_START,    /* no rule, but a thread starts here */
	ROW_NONE,     /* no rule */
	ROW_SYSTEM,   /* no rule, after a CALL_SYSTEM: the code is read like interrupted code */
	ROW_OTHER,    /* a rule that rows cannot hold: libunwind walks instead */
	ROW_LOST,     /* the code has given sp another value than its rule says */
	ROW_NOT_CODE, /* nothing can return to the address, so it is not a frame's pc */
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
	unsigned char target; /* the register that the rule computes */
	unsigned char base;   /* RULE_REGISTER */
	unsigned short op_count;
	int64_t offset;
	struct expression_op *ops;
};

struct row_rules {
	struct row_rule cfa; /* its kind is RULE_REGISTER or RULE_VALUE */
	unsigned count;
	struct row_rule items[];
};

/* Fits one cache line. */
struct row {
	uint64_t start; /* in the file's addresses */
	uint64_t same;  /* mask of the registers that the frame does not change */
	uint32_t size;
	int32_t cfa_offset;
	unsigned char kind;
	unsigned char cfa_register;
	unsigned char saved_count;
	bool signal : 1;
	bool transient : 1;  /* not kept: valid until the next rows_find() */
	bool calls_only : 1; /* valid after a call in the function, but not in the function's first instructions */
	/* made from code, not from a table (code_rule.h); the caller that it finds has to be after a call */
	bool from_code : 1;
	bool sets_sp : 1; /* some code in the range gives sp a value that the rule does not know */
	/* ROW_NORMAL: the registers saved at CFA + offset; [0] is the return address. */
	unsigned char registers[ROW_SAVED_MAX];
	union {
		int16_t offsets[ROW_SAVED_MAX]; /* ROW_NORMAL */
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

/* Returns the row for an address of the file; never NULL. It is valid as long as the table, unless it is transient. */
const struct row *rows_find(struct row_table *table, struct cfi *cfi, const struct arch *arch, uint64_t address);
/* True if the code of a row with sets_sp has changed sp before this address. */
bool row_lost_sp(const struct row *row, struct cfi *cfi, const struct arch *arch, uint64_t address);
void rows_free(struct row_table *table);

#endif
