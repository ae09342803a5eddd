/* Rows that are made by reading the code, and kept. */
#include "config.h"
#include "unwind/code_rule.h"
#include "unwind/unwinder.h"
#include "base/msg.h"
#include "base/util.h"

#include <stdlib.h>

#define CODE_ROWS_MAX (1u << 16) /* of one object */

static const struct row no_rule = {.size = 1, .kind = ROW_NONE};

static size_t read_file_code(void *cfi, uint64_t address, unsigned char *data, size_t size)
{
	const ssize_t got = cfi_code(cfi, address, data, size);

	return got > 0 ? (size_t)got : 0;
}

static bool make_row(struct row *row, const struct arch *arch, uint64_t pc, const struct code_reader *reader,
		     struct code_rule *rule)
{
	*row = (struct row){.start = arch_text_address(arch, pc), .size = 1, .calls_only = true, .from_code = true};
	return code_rule_find(arch, pc, reader, rule) && code_rule_row(rule, arch, row);
}

const struct row *code_row_of_object(struct unwinder *unwinder, const struct unwind_mapping *mapped, uint64_t pc)
{
	struct unwind_object *object = mapped->object;
	const struct code_reader reader = {read_file_code, &object->cfi};
	const uint64_t address = pc - mapped->bias;
	const struct row *known = hash_get_ptr(&object->code_rows, address);
	struct code_rule rule;
	struct row *row;

	if (known)
		return known;
	if (object->code_rows.count >= CODE_ROWS_MAX)
		return &no_rule;
	row = xcalloc(1, sizeof(*row));
	if (!make_row(row, unwinder->arch, address, &reader, &rule)) {
		*row = no_rule;
		msg_debug(DBG_UNWIND, 1, "the code behind the call at 0x%llx of %s does not show its frame",
			  (unsigned long long)address, object->path ? object->path : "an object without a file");
	}
	hash_set_ptr(&object->code_rows, address, row);
	return row;
}

void code_rows_free(struct hash *rows)
{
	struct hash_entry *entry;

	for (size_t i = 0; (entry = hash_next(rows, &i));)
		free((void *)(uintptr_t)entry->value);
	hash_free(rows);
}
