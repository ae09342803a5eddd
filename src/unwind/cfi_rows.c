/* Makes rows from libdw's answers, and stores them in a table; see cfi_rows.h. */
#include "config.h"
#include "unwind/cfi_rows.h"
#include "unwind/exidx.h"
#include "base/util.h"

#include <dwarf.h>
#include <stdlib.h>

#define CHUNK_ROWS 64
#define SCAN_MAX   4096 /* maximum bytes of a row's code that are checked; functions that switch stacks are short */
#define BYTES_MAX  ((size_t)48 << 20) /* maximum bytes for each object; the rows of libLLVM take about 30 MiB */

/* ---- Making a row from libdw's answer ---- */

/* A register's rule as libdw returns it: a location or value expression, in which DW_OP_call_frame_cfa means the CFA.
 * In two special cases there is no expression (libdw.h, dwarf_frame_register). */
struct rows_answer {
	enum { ANSWER_BAD, ANSWER_SAME, ANSWER_UNDEFINED, ANSWER_RULE } kind;
	struct row_rule rule; /* the rule's expression is in `ops`, not copied yet */
	const Dwarf_Op *ops;
};

static bool take_register_op(const Dwarf_Op *op, uint64_t *reg)
{
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		*reg = op->atom - DW_OP_reg0;
	else if (op->atom == DW_OP_regx)
		*reg = op->number;
	else
		return false;
	return true;
}

/* Parses `bregN offset`, which is the form of nearly every CFA. */
static bool take_based_op(const Dwarf_Op *op, uint64_t *reg, int64_t *offset)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*reg = op->atom - DW_OP_breg0;
		*offset = (int64_t)op->number;
	} else if (op->atom == DW_OP_bregx) {
		*reg = op->number;
		*offset = (int64_t)op->number2;
	} else {
		return false;
	}
	return true;
}

static struct rows_answer translate(const Dwarf_Op *ops, size_t count, unsigned registers)
{
	struct rows_answer answer = {.kind = ANSWER_RULE, .ops = ops};
	struct row_rule *rule = &answer.rule;
	bool is_value = false;
	uint64_t reg;

	if (count == 1 && take_register_op(ops, &reg)) {
		rule->kind = RULE_REGISTER;
		rule->base = (unsigned char)reg;
		answer.kind = reg < registers ? ANSWER_RULE : ANSWER_BAD;
		return answer;
	}
	if (count && ops[count - 1].atom == DW_OP_stack_value) {
		is_value = true;
		count--;
	}
	if (count && ops[0].atom == DW_OP_call_frame_cfa &&
	    (count == 1 || (count == 2 && ops[1].atom == DW_OP_plus_uconst))) {
		rule->kind = is_value ? RULE_CFA : RULE_AT_CFA;
		rule->offset = count == 2 ? (int64_t)ops[1].number : 0;
		return answer;
	}
	rule->kind = is_value ? RULE_VALUE : RULE_AT;
	rule->op_count = (unsigned short)count;
	if (!expression_is_known(ops, count, registers))
		answer.kind = ANSWER_BAD;
	return answer;
}

static struct rows_answer ask_register(Dwarf_Frame *frame, unsigned reg, unsigned registers, Dwarf_Op memory[3])
{
	Dwarf_Op *ops;
	size_t count;
	struct rows_answer answer;

	if (dwarf_frame_register(frame, (int)reg, memory, &ops, &count))
		return (struct rows_answer){.kind = ANSWER_BAD};
	if (!count)
		return (struct rows_answer){.kind = ops ? ANSWER_UNDEFINED : ANSWER_SAME};
	answer = translate(ops, count, registers);
	answer.rule.target = (unsigned char)reg;
	return answer;
}

static struct rows_answer ask_cfa(Dwarf_Frame *frame, unsigned registers)
{
	struct rows_answer answer = {.kind = ANSWER_BAD};
	Dwarf_Op *ops;
	size_t count;
	uint64_t reg;

	if (dwarf_frame_cfa(frame, &ops, &count) || !count)
		return answer;
	answer.ops = ops;
	if (count == 1 && take_based_op(ops, &reg, &answer.rule.offset)) {
		answer.rule.kind = RULE_REGISTER;
		answer.rule.base = (unsigned char)reg;
		answer.kind = reg < registers ? ANSWER_RULE : ANSWER_BAD;
	} else {
		answer.rule.kind = RULE_VALUE;
		answer.rule.op_count = (unsigned short)count;
		answer.kind = expression_is_known(ops, count, registers) ? ANSWER_RULE : ANSWER_BAD;
	}
	return answer;
}

/* libdw's answers for a frame, from which a row is made. */
struct draft {
	struct rows_answer cfa, items[ROW_REGISTER_MAX];
	unsigned count; /* number of items; the first is the return address */
	uint64_t same;
	bool ra_undefined, ra_same;
	Dwarf_Op memory[ROW_REGISTER_MAX][3]; /* storage for libdw's answers that need no allocation */
};

static bool draft_fill(struct draft *draft, Dwarf_Frame *frame, unsigned ra, const struct arch *arch)
{
	const unsigned registers = arch->dwarf.registers;

	draft->cfa = ask_cfa(frame, registers);
	if (draft->cfa.kind == ANSWER_BAD)
		return false;
	for (unsigned i = 0; i < registers; i++) {
		/* The return address comes first, then the other registers in order. */
		const unsigned reg = i == 0 ? ra : i <= ra ? i - 1 : i;
		const struct rows_answer answer = ask_register(frame, reg, registers, draft->memory[reg]);

		switch (answer.kind) {
		case ANSWER_BAD:
			return false;
		case ANSWER_SAME:
			draft->same |= 1ull << reg;
			draft->ra_same |= reg == ra;
			break;
		case ANSWER_UNDEFINED:
			/* Usually the call frame information does not mention the register, because it is unchanged.
			 * libdw reports this as "same" for some registers, but not for all (0.188: not for rbx). */
			draft->ra_undefined |= reg == ra;
			draft->same |= 1ull << reg;
			break;
		case ANSWER_RULE:
			/* The CFA is the caller's sp by default, so sp needs no rule. */
			if (reg == arch->dwarf.sp && answer.rule.kind == RULE_CFA && !answer.rule.offset)
				break;
			draft->items[draft->count++] = answer;
			break;
		}
	}
	if (draft->ra_same) {
		/* The return address is still in its register: a leaf function on a processor with a link register. */
		memmove(draft->items + 1, draft->items, draft->count * sizeof(*draft->items));
		draft->items[0] = (struct rows_answer){.kind = ANSWER_RULE};
		draft->items[0].rule = (struct row_rule){
			.kind = RULE_REGISTER, .target = (unsigned char)ra, .base = (unsigned char)ra};
		draft->count++;
	}
	return true;
}

static bool rows_pack_normal(const struct draft *draft, struct row *row)
{
	if (draft->cfa.rule.kind != RULE_REGISTER || draft->cfa.rule.offset < INT32_MIN ||
	    draft->cfa.rule.offset > INT32_MAX || draft->count > ROW_SAVED_MAX || draft->ra_undefined)
		return false;
	for (unsigned i = 0; i < draft->count; i++) {
		const struct row_rule *rule = &draft->items[i].rule;

		if (rule->kind != RULE_AT_CFA || rule->offset < INT16_MIN || rule->offset > INT16_MAX)
			return false;
		row->offsets[i] = (int16_t)rule->offset;
		row->registers[i] = rule->target;
	}
	row->kind = ROW_NORMAL;
	row->cfa_register = draft->cfa.rule.base;
	row->cfa_offset = (int32_t)draft->cfa.rule.offset;
	row->saved_count = (unsigned char)draft->count;
	return true;
}

static struct expression_op *pack_rule(struct row_rule *to, const struct rows_answer *answer, struct expression_op *ops)
{
	*to = answer->rule;
	to->ops = ops;
	expression_copy(ops, answer->ops, to->op_count);
	return ops + to->op_count;
}

/* Allocates one block of memory, which contains the rules followed by their expressions. Returns its size in bytes. */
static size_t rows_pack_rules(const struct draft *draft, struct row *row)
{
	const size_t rules_size = sizeof(struct row_rules) + draft->count * sizeof(struct row_rule);
	size_t op_count = draft->cfa.rule.op_count;
	struct expression_op *ops;

	for (unsigned i = 0; i < draft->count; i++)
		op_count += draft->items[i].rule.op_count;
	row->rules = xcalloc(1, rules_size + op_count * sizeof(*ops));
	ops = (struct expression_op *)((char *)row->rules + rules_size);
	ops = pack_rule(&row->rules->cfa, &draft->cfa, ops);
	row->rules->count = draft->count;
	for (unsigned i = 0; i < draft->count; i++)
		ops = pack_rule(&row->rules->items[i], &draft->items[i], ops);
	row->kind = draft->ra_undefined ? ROW_END : ROW_RULES;
	return rules_size + op_count * sizeof(*ops);
}

/* Returns true if the row for which libdw reports the limits [start, end) really begins at `start`. After
 * DW_CFA_restore_state, libdw 0.188 reports the start of the row whose state was remembered. The code from there to the
 * real start belongs to other rows. */
static bool frame_covers(struct cfi *cfi, uint64_t start, uint64_t end)
{
	Dwarf_Frame *frame = cfi_frame(cfi, start);
	Dwarf_Addr other_start = 0, other_end = 0;
	bool signal;

	if (!frame)
		return false;
	dwarf_frame_info(frame, &other_start, &other_end, &signal);
	free(frame);
	return other_start == start && other_end == end;
}

/* ---- Code that does not follow its rule ---- */

/* Returns true if sp at `end` is not its value at the row's start plus a constant, because the row's code has set sp in
 * another way. A rule that computes the CFA from sp is then wrong at `end`. An example is Go's asmcgocall, which
 * switches to another stack. *ever: true if this holds anywhere in the code before `end`. */
static bool sets_sp(const struct row *row, struct cfi *cfi, const struct arch *arch, uint64_t end, bool *ever)
{
	unsigned char code[SCAN_MAX];
	const uint64_t size = end - row->start;
	const ssize_t got = size <= sizeof(code) ? cfi_code(cfi, row->start, code, size) : 0;

	*ever = false;
	return got > 0 && arch->code.sets_sp(code, (size_t)got, ever);
}

bool row_lost_sp(const struct row *row, struct cfi *cfi, const struct arch *arch, uint64_t address)
{
	bool ever;

	return sets_sp(row, cfi, arch, address, &ever);
}

/* Reads the row's code, and sets row->sets_sp. The row must begin at the start of an instruction. */
static void look_at_code(struct row *row, struct cfi *cfi, const struct arch *arch)
{
	bool ever = false;

	if (row->kind == ROW_NORMAL && row->cfa_register == arch->dwarf.sp)
		sets_sp(row, cfi, arch, row->start + row->size, &ever);
	row->sets_sp = ever;
}

/* Fills in the row. Returns the number of bytes allocated in addition to the row. */
static size_t compile(struct row *row, struct cfi *cfi, const struct arch *arch, uint64_t address)
{
	Dwarf_Frame *frame;
	struct draft draft;
	Dwarf_Addr start, end;
	bool signal, begins = false;
	size_t bytes = 0;
	int ra;

	*row = (struct row){.start = address, .size = 1, .kind = ROW_OTHER};
	if (arch->unwind.index_segment && exidx_row(row, cfi, arch, address, &bytes))
		return bytes;
	frame = cfi_frame(cfi, address);
	if (!frame) {
		row->kind = cfi_find_start(cfi, address) ? ROW_START : ROW_NONE;
		return 0;
	}
	ra = dwarf_frame_info(frame, &start, &end, &signal);
	row->signal = ra >= 0 && signal;
	if (ra >= 0 && start <= address && address < end) {
		begins = frame_covers(cfi, start, end);
		row->start = begins ? start : address;
		row->size = end - row->start > UINT32_MAX ? 1 : (uint32_t)(end - row->start);
		if (address - row->start >= row->size) {
			row->start = address;
			begins = false;
		}
	}
	if (ra >= 0 && (unsigned)ra < arch->dwarf.registers && arch->dwarf.registers <= ROW_REGISTER_MAX) {
		memset(&draft, 0, offsetof(struct draft, memory));
		if (draft_fill(&draft, frame, (unsigned)ra, arch)) {
			row->same = draft.same;
			if (!rows_pack_normal(&draft, row))
				bytes = rows_pack_rules(&draft, row);
			else if (begins)
				look_at_code(row, cfi, arch);
		}
	}
	free(frame);
	return bytes;
}

/* ---- The table ---- */

static bool has_rules(const struct row *row)
{
	return row->kind == ROW_RULES || row->kind == ROW_END;
}

/* Returns the number of rows that start at or below an address. */
static size_t rows_below(const struct row_table *table, uint64_t address)
{
	return COUNT_UP_TO(table->index, table->count, .start, address);
}

/* Allocates a row. Rows never move in memory, because the caches of unwinders point to them. */
static struct row *new_row(struct row_table *table)
{
	if (!table->chunk_count || table->chunk_used == CHUNK_ROWS) {
		struct row *chunk = aligned_alloc(64, CHUNK_ROWS * sizeof(struct row));

		if (!chunk)
			return NULL;
		ARRAY_GROW(table->chunks, table->chunk_capacity, table->chunk_count);
		table->chunks[table->chunk_count++] = chunk;
		table->chunk_used = 0;
	}
	return &table->chunks[table->chunk_count - 1][table->chunk_used++];
}

static const struct row *rows_make_row(struct row_table *table, struct cfi *cfi, const struct arch *arch,
				       uint64_t address, size_t at)
{
	struct row *row = table->bytes < BYTES_MAX ? new_row(table) : NULL;

	if (!row) {
		row = &table->scratch;
		if (has_rules(row))
			free(row->rules);
		compile(row, cfi, arch, address);
		row->transient = true;
		return row;
	}
	table->bytes += sizeof(*row) + sizeof(struct row_index) + compile(row, cfi, arch, address);
	/* Replace a stored row that has the same start. There is one only if the call frame information contradicts
	 * itself. */
	if (at && table->index[at - 1].start == row->start) {
		table->index[at - 1].row = row;
		return row;
	}
	at = rows_below(table, row->start);
	ARRAY_GROW(table->index, table->capacity, table->count);
	memmove(table->index + at + 1, table->index + at, (table->count - at) * sizeof(*table->index));
	table->index[at] = (struct row_index){row->start, row};
	table->count++;
	return row;
}

const struct row *rows_find(struct row_table *table, struct cfi *cfi, const struct arch *arch, uint64_t address)
{
	const size_t at = rows_below(table, address);

	if (at && address - table->index[at - 1].start < table->index[at - 1].row->size)
		return table->index[at - 1].row;
	return rows_make_row(table, cfi, arch, address, at);
}

void rows_free(struct row_table *table)
{
	for (size_t i = 0; i < table->chunk_count; i++) {
		const size_t used = i + 1 == table->chunk_count ? table->chunk_used : CHUNK_ROWS;

		for (size_t k = 0; k < used; k++)
			if (has_rules(&table->chunks[i][k]))
				free(table->chunks[i][k].rules);
		free(table->chunks[i]);
	}
	if (has_rules(&table->scratch))
		free(table->scratch.rules);
	free(table->chunks);
	free(table->index);
	*table = (struct row_table){0};
}
