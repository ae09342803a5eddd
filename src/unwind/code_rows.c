/* Makes rows by analysing code, and stores them. */
#include "config.h"
#include "unwind/code_rule.h"
#include "unwind/unwinder.h"
#include "base/msg.h"
#include "base/util.h"

#include <stdlib.h>

#define CODE_ROWS_MAX (1u << 16) /* maximum number of stored rows for each object */

static const struct row no_rule = {.size = 1, .kind = ROW_NONE};

static size_t read_file_code(void *cfi, uint64_t address, unsigned char *data, size_t size)
{
	const ssize_t got = cfi_code(cfi, address, data, size);

	return got > 0 ? (size_t)got : 0;
}

/* ---- Making a row from a code rule ---- */

static bool code_rows_fits(const struct code_rule *rule, struct path_value value, int16_t *offset)
{
	const int64_t from_cfa = (int64_t)value.offset - rule->cfa;

	*offset = (int16_t)from_cfa;
	return value.kind == PATH_MEMORY && from_cfa == *offset;
}

/* Makes the rules for code in which the return address is still in the link register. A row of kind ROW_NORMAL cannot
 * describe this. */
static void make_rules(const struct code_rule *rule, const struct arch *arch, struct row *row)
{
	struct row_rules *rules = xcalloc(1, sizeof(*rules) + (1 + PATH_REGISTERS) * sizeof(rules->items[0]));
	const unsigned char link = (unsigned char)arch->dwarf.link;

	rules->cfa = (struct row_rule){.kind = RULE_REGISTER, .base = rule->base, .offset = rule->cfa};
	rules->items[rules->count++] = (struct row_rule){.kind = RULE_REGISTER, .target = link, .base = link};
	for (unsigned i = 0; i < PATH_REGISTERS; i++)
		if (rule->registers[i].kind == PATH_MEMORY)
			rules->items[rules->count++] =
				(struct row_rule){.kind = RULE_AT_CFA,
						  .target = (unsigned char)i,
						  .offset = (int64_t)rule->registers[i].offset - rule->cfa};
	row->kind = ROW_RULES;
	row->rules = rules;
}

/* Sets the row from a rule. Returns false if a row cannot contain the rule. */
static bool code_rows_make_row(const struct code_rule *rule, const struct arch *arch, struct row *row)
{
	unsigned count = 1;

	for (unsigned i = 0; i < PATH_REGISTERS; i++)
		if (rule->registers[i].kind == PATH_REGISTER)
			row->same |= 1ull << i;
	if (rule->pc.kind == PATH_REGISTER) {
		make_rules(rule, arch, row);
		return true;
	}
	if (!code_rows_fits(rule, rule->pc, &row->offsets[0]))
		return false;
	row->registers[0] = (unsigned char)(arch->dwarf.link ? arch->dwarf.link : arch->dwarf.pc);
	for (unsigned i = 0; i < PATH_REGISTERS && count < ROW_SAVED_MAX; i++)
		if (rule->registers[i].kind == PATH_MEMORY &&
		    code_rows_fits(rule, rule->registers[i], &row->offsets[count]))
			row->registers[count++] = (unsigned char)i;
	row->kind = ROW_NORMAL;
	row->cfa_register = rule->base;
	row->cfa_offset = rule->cfa;
	row->saved_count = (unsigned char)count;
	return true;
}

/* ---- The stored rows ---- */

/* Makes a row from `rule`, for an address of the object, and stores the row in the table `rows`. If there is no rule,
 * or a row cannot contain the rule, the row's kind is ROW_NONE. Returns the row. */
static const struct row *keep_row(struct unwind_object *object, struct hash *rows, uint64_t key, uint64_t address,
				  const struct code_rule *rule)
{
	struct row *row = xcalloc(1, sizeof(*row));

	*row = (struct row){.start = arch_text_address(object->arch, address), .size = 1, .from_code = true};
	row->calls_only = rows == &object->code_rows;
	if (!rule || !code_rows_make_row(rule, object->arch, row)) {
		*row = no_rule;
		msg_debug(DBG_UNWIND, 1, "the code at 0x%llx of %s does not show where the caller's registers are",
			  (unsigned long long)address, object->path ? object->path : "an object without a file");
	}
	hash_set_ptr(rows, key, row);
	return row;
}

const struct row *code_row_of_object(struct unwinder *unwinder, const struct unwind_mapping *mapped, uint64_t pc)
{
	struct unwind_object *object = mapped->object;
	const struct code_reader reader = {read_file_code, &object->cfi};
	const uint64_t address = pc - mapped->bias;
	const struct row *known = hash_get_ptr(&object->code_rows, address);
	struct code_rule rule;

	if (known)
		return known;
	if (object->code_rows.count >= CODE_ROWS_MAX)
		return &no_rule;
	const bool is_found = code_rule_find(unwinder->arch, address, &reader, &rule);

	return keep_row(object, &object->code_rows, address, address, is_found ? &rule : NULL);
}

const struct row *code_row_of_interrupted(struct unwinder *unwinder, const struct unwind_mapping *mapped, uint64_t pc,
					  uint64_t sp)
{
	const struct arch *arch = unwinder->arch;
	struct unwind_object *object = mapped->object;
	const struct code_reader reader = {read_file_code, &object->cfi};
	const uint64_t address = pc - mapped->bias, key = address * arch->stack.alignment + sp % arch->stack.alignment;
	const struct row *known = hash_get_ptr(&object->interrupted_rows, key);
	struct code_rule rule;

	if (known)
		return known;
	if (!arch->code.follow || object->interrupted_rows.count >= CODE_ROWS_MAX)
		return &no_rule;
	const bool is_found = code_rule_find_interrupted(arch, address, sp, &reader, &rule);

	return keep_row(object, &object->interrupted_rows, key, address, is_found ? &rule : NULL);
}

void code_rows_free(struct hash *rows)
{
	HASH_EACH_PTR(struct row, row, rows) {
		if (row->kind == ROW_RULES)
			free(row->rules);
		free(row);
	}
	hash_free(rows);
}
