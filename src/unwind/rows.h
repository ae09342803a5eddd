/* Rows: what the call frame information says of a range of code, in a form that is applied in some
 * nanoseconds. Made from libdw's answer when an address is first met, and kept with the object. */
#ifndef FT_UNWIND_ROWS_H
#define FT_UNWIND_ROWS_H

#include "unwind/cfi.h"
#include "unwind/expression.h"

#define ROW_SAVED_MAX    12
#define ROW_REGISTER_MAX 64 /* DWARF registers that are followed: bits of a mask */

enum row_kind {
	ROW_NORMAL,   /* CFA = register + offset, registers saved at CFA + offset */
	ROW_RULES,    /* all else that can be computed: PLT, realigned stacks, signal frames,
		       setcontext */
	ROW_END,      /* the return address is undefined: the outermost frame */
	ROW_SIGNAL,   /* a signal handler returns there: the registers lie as the processor's table says */
	ROW_START,    /* no rule, but a thread starts here */
	ROW_NONE,     /* no rule */
	ROW_SYSTEM,   /* the same behind a CALL_SYSTEM: to be read as what a signal interrupts */
	ROW_OTHER,    /* a rule that rows cannot hold: libunwind's turn */
	ROW_LOST,     /* the code has given sp another value than its rule says */
	ROW_NOT_CODE, /* nothing can return to the address: it is no frame's */
};

/* What the value of a register in the caller (or the CFA) is. */
struct row_rule {
	enum {
		RULE_AT_CFA,   /* in memory at CFA + offset */
		RULE_CFA,      /* CFA + offset */
		RULE_REGISTER, /* register + offset */
		RULE_AT,       /* in memory at the expression's value */
		RULE_VALUE,    /* the expression's value */
	} kind;
	unsigned char target; /* whose rule it is */
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

/* One cache line. */
struct row {
	uint64_t start; /* in the file's addresses */
	uint64_t same;  /* mask of the registers that the frame leaves as they are */
	uint32_t size;
	int32_t cfa_offset;
	unsigned char kind;
	unsigned char cfa_register;
	unsigned char saved_count;
	bool signal : 1;
	bool transient : 1;  /* not kept: gone at the next rows_find */
	bool calls_only : 1; /* it holds where the code has made a call; not in the function's first instructions */
	bool from_code : 1;  /* no table's: code_rule.h. What it finds has to be behind a call */
	bool sets_sp : 1;    /* somewhere within, the code gives sp a value that the rule does not know */
	/* ROW_NORMAL: what is saved at CFA + offset; [0] is the return address. */
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
	struct row_index *index; /* by ascending start */
	size_t count, capacity;
	struct row **chunks;
	size_t chunk_count, chunk_capacity, chunk_used;
	size_t bytes;
	struct row scratch;
};

/* The row for an address of the file's; never NULL. Valid as long as the table, unless it is
 * transient. */
const struct row *rows_find(struct row_table *table, struct cfi *cfi, const struct arch *arch, uint64_t address);
/* Whether a row that sets_sp has done so at an address within. */
bool row_lost_sp(const struct row *row, struct cfi *cfi, const struct arch *arch, uint64_t address);
void rows_free(struct row_table *table);

#endif
