/* Checks call frame information before libdw reads it; see cfi_check.h. */
#include "config.h"
#include "unwind/cfi_check.h"
#include "base/hash.h"

#include <dwarf.h>
#include <elf.h>
#include <string.h>

#define REGISTER_MAX 1024
#define ENTRY_MAX    (1 << 20) /* maximum size of an entry in bytes */
#define REMEMBER_MAX 1024 /* maximum number of DW_CFA_remember_state in an entry; libdw allocates a state for each */

struct bytes {
	const uint8_t *at, *end;
};

static bool cfi_check_skip(struct bytes *bytes, uint64_t size)
{
	if ((uint64_t)(bytes->end - bytes->at) < size)
		return false;
	bytes->at += size;
	return true;
}

/* Reads an unsigned or signed LEB128, of which the low 64 bits are kept. Returns false at the end of the bytes. */
static bool read_leb128(struct bytes *bytes, uint64_t *value)
{
	unsigned shift = 0;

	*value = 0;
	while (bytes->at < bytes->end) {
		const uint8_t byte = *bytes->at++;

		if (shift < 64)
			*value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* The operands of the instructions whose opcode is a whole byte (DWARF 5, 7.24): r is a register, u a number, b a
 * block, 1 2 4 8 that many bytes, x an operand that no compiler writes. */
static const char *const operands[] = {
	[DW_CFA_nop] = "",
	[DW_CFA_set_loc] = "x",
	[DW_CFA_advance_loc1] = "1",
	[DW_CFA_advance_loc2] = "2",
	[DW_CFA_advance_loc4] = "4",
	[DW_CFA_offset_extended] = "ru",
	[DW_CFA_restore_extended] = "r",
	[DW_CFA_undefined] = "r",
	[DW_CFA_same_value] = "r",
	[DW_CFA_register] = "rr",
	[DW_CFA_remember_state] = "",
	[DW_CFA_restore_state] = "",
	[DW_CFA_def_cfa] = "ru",
	[DW_CFA_def_cfa_register] = "r",
	[DW_CFA_def_cfa_offset] = "u",
	[DW_CFA_def_cfa_expression] = "b",
	[DW_CFA_expression] = "rb",
	[DW_CFA_offset_extended_sf] = "ru",
	[DW_CFA_def_cfa_sf] = "ru",
	[DW_CFA_def_cfa_offset_sf] = "u",
	[DW_CFA_val_offset] = "ru",
	[DW_CFA_val_offset_sf] = "ru",
	[DW_CFA_val_expression] = "rb",
	[DW_CFA_MIPS_advance_loc8] = "8",
	[DW_CFA_GNU_window_save] = "",
	[DW_CFA_GNU_args_size] = "u",
	[DW_CFA_GNU_negative_offset_extended] = "ru",
};

/* Returns 1 if the operands are harmless, -1 if they are not, and 0 at the end of the readable bytes, where libdw
 * stops, too. */
static int check_operands(struct bytes *bytes, const char *form)
{
	for (; *form; form++) {
		uint64_t value;

		if (*form >= '1' && *form <= '8') {
			if (!cfi_check_skip(bytes, (uint64_t)(*form - '0')))
				return 0;
			continue;
		}
		if (*form == 'x')
			return -1;
		if (!read_leb128(bytes, &value))
			return 0;
		if (*form == 'r' && value >= REGISTER_MAX)
			return -1;
		if (*form == 'b' && !cfi_check_skip(bytes, value))
			return 0;
	}
	return 1;
}

static bool check_instructions(struct bytes bytes)
{
	unsigned remembered = 0;

	while (bytes.at < bytes.end) {
		const uint8_t opcode = *bytes.at++;
		uint64_t unused;
		int result = 1;

		switch (opcode & 0xc0) {
		case DW_CFA_advance_loc:
		case DW_CFA_restore:
			break;
		case DW_CFA_offset:
			result = read_leb128(&bytes, &unused);
			break;
		default:
			if (opcode >= sizeof(operands) / sizeof(operands[0]) || !operands[opcode])
				return true; /* unknown opcode; libdw stops here, too */
			result = check_operands(&bytes, operands[opcode]);
			if (opcode == DW_CFA_remember_state && ++remembered > REMEMBER_MAX)
				return false;
		}
		if (result <= 0)
			return result == 0;
	}
	return true;
}

/* Returns the size of an encoded pointer in bytes; 0: no pointer; -1: the encoding does not determine the size. */
static int encoded_size(uint8_t encoding, unsigned address_size)
{
	if (encoding == DW_EH_PE_omit)
		return 0;
	switch (encoding & 0x07) {
	case DW_EH_PE_absptr:
		return (int)address_size;
	case DW_EH_PE_udata2:
		return 2;
	case DW_EH_PE_udata4:
		return 4;
	case DW_EH_PE_udata8:
		return 8;
	default:
		return -1;
	}
}

/* Returns the encoding of addresses in a CIE's FDEs, which is the data of letter R in its augmentation. Returns -1
 * if the augmentation is unknown. */
static int fde_encoding(const Dwarf_CIE *cie, unsigned address_size)
{
	const char *letter = cie->augmentation;
	struct bytes data = {cie->augmentation_data, cie->augmentation_data + cie->augmentation_data_size};
	int size;

	if (!letter || *letter != 'z')
		return letter && *letter ? -1 : DW_EH_PE_absptr;
	while (*++letter)
		switch (*letter) {
		case 'R':
			return data.at < data.end ? *data.at : -1;
		case 'L':
			if (!cfi_check_skip(&data, 1))
				return -1;
			break;
		case 'P':
			if (data.at >= data.end || (*data.at & 0x70) == DW_EH_PE_aligned)
				return -1;
			size = encoded_size(*data.at, address_size);
			if (size < 0 || !cfi_check_skip(&data, 1 + (uint64_t)size))
				return -1;
			break;
		case 'S':
		case 'B':
			break;
		default:
			return -1;
		}
	return DW_EH_PE_absptr;
}

struct cfi_check_state {
	unsigned address_size;
	struct hash cies;    /* offset of a CIE -> encoding | has augmentation 'z' << 8 */
	struct hash entries; /* offset of an FDE -> 1 */
};

static bool check_cie(struct cfi_check_state *check, uint64_t offset, const Dwarf_CIE *cie)
{
	const int encoding = fde_encoding(cie, check->address_size);
	const bool is_z = cie->augmentation && cie->augmentation[0] == 'z';

	if (encoding >= 0)
		hash_set(&check->cies, offset, (uint64_t)encoding | (uint64_t)is_z << 8);
	return cie->return_address_register < REGISTER_MAX &&
	       check_instructions((struct bytes){cie->initial_instructions, cie->initial_instructions_end});
}

/* Checks an FDE. Accepts FDEs of a CIE with an unknown augmentation, because libdw does not use them. */
static bool check_fde(struct cfi_check_state *check, uint64_t offset, const Dwarf_FDE *fde)
{
	const uint64_t *cie = hash_get(&check->cies, fde->CIE_pointer);
	struct bytes bytes = {fde->start, fde->end};
	uint64_t size;

	hash_set(&check->entries, offset, 1);
	if (!cie)
		return true;
	const int pointer = encoded_size((uint8_t)*cie, check->address_size);

	if (pointer < 0)
		return false;
	if (!cfi_check_skip(&bytes, 2 * (uint64_t)pointer))
		return true;
	if (*cie >> 8 && (!read_leb128(&bytes, &size) || !cfi_check_skip(&bytes, size)))
		return true;
	return check_instructions(bytes);
}

/* Checks the entries that begin before offset `limit`. */
static bool check_entries(struct cfi_check_state *check, const unsigned char *ident, Elf_Data *data, bool is_eh,
			  uint64_t limit)
{
	Dwarf_Off offset = 0, next;
	Dwarf_CFI_Entry entry;

	/* Continues after the first end mark, because the header's table may point to later entries. */
	while (offset < limit) {
		next = offset;
		const int result = dwarf_next_cfi(ident, data, is_eh, offset, &next, &entry);
		bool good = true;

		if (result > 0 || next <= offset) {
			offset += 4;
			continue;
		}
		if (next - offset > ENTRY_MAX)
			return false;
		if (!result && dwarf_cfi_cie_p(&entry))
			good = check_cie(check, offset, &entry.cie);
		else if (!result)
			good = check_fde(check, offset, &entry.fde);
		if (!good)
			return false;
		offset = next;
	}
	return true;
}

/* The search table in an .eh_frame_hdr: pairs of 32-bit numbers (start, FDE), relative to the header. */
struct cfi_check_table {
	const unsigned char *pairs;
	size_t count;
	uint64_t base;
};

static uint64_t table_fde(const struct cfi_check_table *table, size_t i)
{
	int32_t fde;

	memcpy(&fde, table->pairs + 8 * i + 4, sizeof(fde));
	return table->base + (uint64_t)(int64_t)fde;
}

/* Sets *table to the search table in an .eh_frame_hdr, or to an empty table if there is none. Returns false if the
 * header does not have the form that linkers write. */
static bool find_table(const struct cfi_header *header, struct cfi_check_table *table)
{
	uint32_t count;

	*table = (struct cfi_check_table){0};
	if (!header || !header->bytes)
		return true;
	if (header->size < 4)
		return false;
	if (header->bytes[2] == DW_EH_PE_omit || header->bytes[3] == DW_EH_PE_omit)
		return true;
	if (header->size < 12 || header->bytes[1] != (DW_EH_PE_pcrel | DW_EH_PE_sdata4) ||
	    header->bytes[2] != DW_EH_PE_udata4 || header->bytes[3] != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return false;
	memcpy(&count, header->bytes + 8, sizeof(count));
	if (count > (header->size - 12) / 8)
		return false;
	*table = (struct cfi_check_table){header->bytes + 12, count, header->address - header->eh_frame_address};
	return true;
}

bool cfi_is_harmless(const unsigned char *ident, Elf_Data *data, bool is_eh, const struct cfi_header *header,
		     bool open_end)
{
	struct cfi_check_state check = {.address_size = ident[EI_CLASS] == ELFCLASS32 ? 4 : 8};
	uint64_t limit = open_end ? 0 : data->d_size;
	struct cfi_check_table table;
	bool result;

	if (!find_table(header, &table))
		return false;
	for (size_t i = 0; open_end && i < table.count; i++)
		if (table_fde(&table, i) >= limit)
			limit = table_fde(&table, i) + 1;
	if (limit > data->d_size)
		return false;
	result = (table.count || !open_end) && check_entries(&check, ident, data, is_eh, limit);
	for (size_t i = 0; result && i < table.count; i++)
		result = hash_get(&check.entries, table_fde(&table, i)) != NULL;
	hash_free(&check.cies);
	hash_free(&check.entries);
	return result;
}
