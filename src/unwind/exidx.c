/* Unwinds by ARM's index of functions, as described in "Exception Handling ABI for the Arm Architecture" (IHI 0038). */
#include "config.h"
#include "unwind/exidx.h"
#include "base/util.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <unistd.h>

#define INDEX_MAX  ((uint64_t)64 << 20)
#define ENTRY_SIZE 8
#define CANTUNWIND 1
#define TAIL_MAX   16 /* how far after its symbol, in bytes, an entry point may go on in code without a symbol */

/* ---- The bytes of the file ---- */

static uint32_t exidx_word_at(const unsigned char *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static bool read_file_bytes(struct cfi *cfi, uint64_t address, void *data, size_t size)
{
	GElf_Phdr phdr;
	size_t phnum, image_size;

	if (elf_getphdrnum(cfi->elf, &phnum))
		return false;
	for (size_t i = 0; i < phnum; i++) {
		if (!gelf_getphdr(cfi->elf, (int)i, &phdr) || phdr.p_type != PT_LOAD || address < phdr.p_vaddr ||
		    address - phdr.p_vaddr >= phdr.p_filesz || phdr.p_filesz - (address - phdr.p_vaddr) < size)
			continue;
		const uint64_t offset = phdr.p_offset + (address - phdr.p_vaddr);

		if (!cfi->image)
			return pread(cfi->fd, data, size, (off_t)offset) == (ssize_t)size;
		const char *image = elf_rawfile(cfi->elf, &image_size);

		if (!image || offset > image_size || image_size - offset < size)
			return false;
		memcpy(data, image + offset, size);
		return true;
	}
	return false;
}

/* Returns the address that a word encodes as a 31-bit distance from the word's own address. */
static uint64_t exidx_place_of(uint64_t address, uint32_t word)
{
	return (uint32_t)(address + (uint64_t)(int64_t)((int32_t)(word << 1) >> 1));
}

static void read_index(struct cfi *cfi, const struct arch *arch)
{
	struct cfi_index *index = &cfi->index;
	GElf_Phdr phdr;
	size_t phnum;

	index->is_tried = true;
	if (elf_getphdrnum(cfi->elf, &phnum))
		return;
	for (size_t i = 0; i < phnum; i++) {
		if (!gelf_getphdr(cfi->elf, (int)i, &phdr) || phdr.p_type != arch->unwind.index_segment)
			continue;
		const uint64_t size = phdr.p_filesz - phdr.p_filesz % ENTRY_SIZE;

		if (!size || size > INDEX_MAX || !(index->bytes = malloc(size)))
			return;
		if (read_file_bytes(cfi, phdr.p_vaddr, index->bytes, size)) {
			index->address = phdr.p_vaddr;
			index->count = size / ENTRY_SIZE;
		}
		return;
	}
}

static uint64_t entry_start(const struct cfi_index *index, size_t i)
{
	return exidx_place_of(index->address + i * ENTRY_SIZE, exidx_word_at(index->bytes + i * ENTRY_SIZE));
}

/* ---- An entry's instructions ---- */

static void exidx_put_bytes(struct exidx_entry *entry, uint32_t word, unsigned count)
{
	while (count)
		entry->bytes[entry->size++] = (unsigned char)(word >> 8 * --count);
}

/* Appends the instructions in `count` words at an address. */
static bool put_words(struct cfi *cfi, uint64_t address, unsigned count, struct exidx_entry *entry)
{
	unsigned char bytes[4 * 255];

	if (count && !read_file_bytes(cfi, address, bytes, (size_t)4 * count))
		return false;
	for (unsigned i = 0; i < count; i++)
		exidx_put_bytes(entry, exidx_word_at(bytes + (size_t)4 * i), 4);
	return true;
}

/* Reads an entry of .ARM.extab: instructions in one of three compact forms, or the address of a personality routine and
 * data for it. The data for the routines of compilers begin with instructions of the same kind. */
static bool read_table_entry(struct cfi *cfi, uint64_t address, struct exidx_entry *entry)
{
	unsigned char bytes[4];
	bool is_compact;
	uint32_t word;

	if (!read_file_bytes(cfi, address, bytes, sizeof(bytes)))
		return false;
	word = exidx_word_at(bytes);
	is_compact = word >> 31;
	if (is_compact && (word >> 24 & 15) == 0) {
		exidx_put_bytes(entry, word, 3);
		return true;
	}
	if (is_compact) {
		exidx_put_bytes(entry, word, 2);
		return (word >> 24 & 15) <= 2 && put_words(cfi, address + 4, word >> 16 & 255, entry);
	}
	if (!read_file_bytes(cfi, address + 4, bytes, sizeof(bytes)))
		return false;
	word = exidx_word_at(bytes);
	exidx_put_bytes(entry, word, 3);
	return put_words(cfi, address + 8, word >> 24, entry);
}

bool exidx_find(struct cfi *cfi, const struct arch *arch, uint64_t address, struct exidx_entry *entry)
{
	const struct cfi_index *index = &cfi->index;
	size_t low = 0, high;

	if (!index->is_tried)
		read_index(cfi, arch);
	/* Finds the last entry that starts at or below the address. */
	for (high = index->count; low < high;) {
		const size_t middle = low + (high - low) / 2;

		if (entry_start(index, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	const uint64_t at = index->address + (low - 1) * ENTRY_SIZE + 4;
	const uint32_t word = exidx_word_at(index->bytes + (low - 1) * ENTRY_SIZE + 4);

	entry->start = entry_start(index, low - 1);
	/* The last entry of the index extends to the end of the code, which is unknown here. */
	entry->end = low < index->count ? entry_start(index, low) : address + 1;
	entry->size = 0;
	if (entry->start > address || entry->end <= address)
		return false;
	if (word == CANTUNWIND)
		return true;
	if (word >> 31)
		exidx_put_bytes(entry, word, 3);
	else if (!read_table_entry(cfi, exidx_place_of(at, word), entry))
		entry->size = 0;
	return true;
}

bool exidx_continues_start(struct cfi *cfi, const struct arch *arch, uint64_t address)
{
	struct exidx_entry entry;

	return exidx_find(cfi, arch, address, &entry) && !entry.size && cfi_find_start(cfi, address - TAIL_MAX);
}

/* ---- Executing the instructions ---- */

struct exidx_program {
	const unsigned char *at, *end;
	struct exidx_rule *rule;
	struct exidx_place vsp; /* the virtual sp after the instructions executed so far */
	bool is_loaded;         /* true if vsp was loaded from memory; then no instruction may follow */
};

/* Adds to vsp modulo 2^32, because a file may contain any numbers. */
static void exidx_move(struct exidx_program *run, uint32_t by)
{
	run->vsp.offset = (int32_t)((uint32_t)run->vsp.offset + by);
}

/* Pops the registers in the mask; the lowest-numbered register is at the lowest address. */
static void exidx_pop(struct exidx_program *run, uint32_t mask)
{
	for (unsigned reg = 0; reg < EXIDX_REGISTERS_MAX; reg++) {
		if (!(mask >> reg & 1))
			continue;
		run->rule->places[reg] = run->vsp;
		run->rule->saved |= 1u << reg;
		exidx_move(run, 4);
	}
	run->is_loaded |= mask >> EXIDX_SP & 1;
}

static bool take_leb128(struct exidx_program *run, uint32_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 28 && run->at < run->end; shift += 7) {
		const unsigned char byte = *run->at++;

		*value |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* Executes vsp = r[n]. */
static bool set_vsp(struct exidx_program *run, unsigned n)
{
	if (n == EXIDX_SP || n == EXIDX_PC || run->rule->saved >> n & 1)
		return false;
	run->vsp = (struct exidx_place){(unsigned char)n, 0};
	return true;
}

/* Executes an instruction 1011 xxxx, with its second byte if it has one. */
static bool run_group_b(struct exidx_program *run, unsigned char byte)
{
	uint32_t number;

	if (byte >= 0xb8) { /* pops registers from d8 on in the layout of fstmfdx, which has one more word */
		exidx_move(run, 8 * ((byte & 7u) + 1) + 4);
		return true;
	}
	if (byte == 0xb4 || byte == 0xb5) { /* 0xb4: pop the authentication code; 0xb5: vsp is its modifier */
		exidx_move(run, byte == 0xb4 ? 4 : 0);
		return true;
	}
	if (byte == 0xb2) {
		if (!take_leb128(run, &number))
			return false;
		exidx_move(run, 0x204 + (number << 2));
		return true;
	}
	if (run->at == run->end)
		return false;
	const unsigned char next = *run->at++;

	if (byte == 0xb1 && next && next < 16) {
		exidx_pop(run, next);
		return true;
	}
	if (byte == 0xb3) {
		exidx_move(run, 8 * ((next & 15u) + 1) + 4);
		return true;
	}
	return false;
}

/* Executes an instruction 11xx xxxx, which pops vector registers. Unwinding does not need these registers. */
static bool run_group_c(struct exidx_program *run, unsigned char byte)
{
	if (byte >= 0xd0 && byte <= 0xd7) {
		exidx_move(run, 8 * ((byte & 7u) + 1));
		return true;
	}
	if (byte <= 0xc5) {
		exidx_move(run, 8 * ((byte & 7u) + 1));
		return true;
	}
	if (byte > 0xc9 || run->at == run->end)
		return false;
	const unsigned char next = *run->at++;

	if (byte == 0xc7) {
		exidx_move(run, 4 * (uint32_t)__builtin_popcount(next & 15));
		return next && next < 16;
	}
	exidx_move(run, 8 * ((next & 15u) + 1));
	return true;
}

static bool run_one(struct exidx_program *run)
{
	const unsigned char byte = *run->at++;

	switch (byte >> 6) {
	case 0:
		exidx_move(run, ((byte & 0x3fu) << 2) + 4);
		return true;
	case 1:
		exidx_move(run, 0 - (((byte & 0x3fu) << 2) + 4));
		return true;
	case 3:
		return run_group_c(run, byte);
	default:
		break;
	}
	if (byte < 0x90) {
		if (run->at == run->end)
			return false;
		const uint32_t mask = (uint32_t)(byte & 15) << 8 | *run->at++;

		exidx_pop(run, mask << 4);
		return mask; /* an empty mask means "refuse to unwind" */
	}
	if (byte < 0xa0)
		return set_vsp(run, byte & 15);
	if (byte < 0xb0) {
		exidx_pop(run, ((2u << (byte & 7)) - 1) << 4 | (byte & 8 ? 1u << EXIDX_LR : 0));
		return true;
	}
	return run_group_b(run, byte);
}

#define FINISH 0xb0

bool exidx_run(const unsigned char *bytes, size_t size, struct exidx_rule *rule)
{
	struct exidx_program run = {bytes, bytes + size, rule, {EXIDX_SP, 0}, false};

	*rule = (struct exidx_rule){0};
	while (run.at < run.end && *run.at != FINISH)
		if (run.is_loaded || !run_one(&run))
			return false;
	rule->sp = run.vsp;
	return size > 0;
}

/* ---- Making a row ---- */

/* Returns the register whose saved value is the return address: pc if it was saved, else lr. If lr was not saved
 * either, the return address is still in lr. */
static unsigned return_register(const struct exidx_rule *rule)
{
	return rule->saved >> EXIDX_PC & 1 ? EXIDX_PC : EXIDX_LR;
}

static bool exidx_pack_normal(const struct exidx_rule *rule, struct row *row)
{
	const unsigned first = return_register(rule);
	unsigned count = 0;

	if (!(rule->saved >> first & 1) || rule->saved >> EXIDX_SP & 1)
		return false;
	for (unsigned i = 0; i <= EXIDX_REGISTERS_MAX; i++) {
		/* The row's first register is the return address. */
		const unsigned reg = i ? i - 1 : first;
		const struct exidx_place *place = &rule->places[reg];
		const int64_t offset = (int64_t)place->offset - rule->sp.offset;

		if (!(rule->saved >> reg & 1) || (i && reg == first))
			continue;
		if (place->base != rule->sp.base || offset < INT16_MIN || offset > INT16_MAX || count == ROW_SAVED_MAX)
			return false;
		row->offsets[count] = (int16_t)offset;
		row->registers[count++] = (unsigned char)reg;
	}
	row->kind = ROW_NORMAL;
	row->cfa_register = rule->sp.base;
	row->cfa_offset = rule->sp.offset;
	row->saved_count = (unsigned char)count;
	return true;
}

/* Makes the rule for a register that is saved in memory. */
static void put_saved(struct row_rule *item, unsigned reg, const struct exidx_place *place, struct expression_op *ops)
{
	ops[0] = (struct expression_op){.atom = (unsigned char)(DW_OP_breg0 + place->base),
					.number = (uint64_t)(int64_t)place->offset};
	*item = (struct row_rule){.kind = RULE_AT, .target = (unsigned char)reg, .op_count = 1, .ops = ops};
}

static void put_sp(struct row_rule *cfa, const struct exidx_rule *rule, struct expression_op *ops)
{
	if (rule->saved >> EXIDX_SP & 1) {
		put_saved(cfa, EXIDX_SP, &rule->places[EXIDX_SP], ops);
		ops[1] = (struct expression_op){.atom = DW_OP_deref};
		cfa->kind = RULE_VALUE;
		cfa->op_count = 2;
	} else {
		*cfa = (struct row_rule){
			.kind = RULE_REGISTER, .target = EXIDX_SP, .base = rule->sp.base, .offset = rule->sp.offset};
	}
}

static size_t exidx_pack_rules(const struct exidx_rule *rule, struct row *row)
{
	const unsigned first = return_register(rule);
	const size_t rules_size = sizeof(struct row_rules) + (EXIDX_REGISTERS_MAX + 1) * sizeof(struct row_rule);
	const size_t size = rules_size + (EXIDX_REGISTERS_MAX + 3) * sizeof(struct expression_op);
	struct row_rules *rules = xcalloc(1, size);
	struct expression_op *ops = (struct expression_op *)((char *)rules + rules_size);

	put_sp(&rules->cfa, rule, ops);
	ops += 2;
	for (unsigned i = 0; i <= EXIDX_REGISTERS_MAX; i++) {
		const unsigned reg = i ? i - 1 : first;

		if (i ? !(rule->saved >> reg & 1) || reg == first || reg == EXIDX_SP : false)
			continue;
		if (rule->saved >> reg & 1)
			put_saved(&rules->items[rules->count], reg, &rule->places[reg], ops++);
		else
			rules->items[rules->count] =
				(struct row_rule){.kind = RULE_REGISTER, .target = EXIDX_LR, .base = EXIDX_LR};
		rules->count++;
	}
	row->kind = ROW_RULES;
	row->rules = rules;
	return size;
}

bool exidx_row(struct row *row, struct cfi *cfi, const struct arch *arch, uint64_t address, size_t *allocated)
{
	const uint32_t unsaved = (1u << EXIDX_SP) - 1;
	struct exidx_entry entry;
	struct exidx_rule rule;

	if (!exidx_find(cfi, arch, address, &entry) || !exidx_run(entry.bytes, entry.size, &rule))
		return false;
	*allocated = 0;
	row->start = entry.start;
	row->size = entry.end - entry.start > UINT32_MAX ? 1 : (uint32_t)(entry.end - entry.start);
	if (address - row->start >= row->size)
		return false;
	row->calls_only = true;
	/* Only the code to which signal handlers return restores all registers. */
	row->signal = rule.saved >> EXIDX_SP & 1 && rule.saved >> EXIDX_PC & 1;
	row->same = unsaved & ~rule.saved;
	if (!exidx_pack_normal(&rule, row))
		*allocated = exidx_pack_rules(&rule, row);
	return true;
}
