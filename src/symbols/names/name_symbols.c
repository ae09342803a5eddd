/* Sorts the symbols of a Dwfl_Module, and finds them by address. libdwfl finds the table of symbols (.symtab, the
 * separate debug file's, .gnu_debugdata, .dynsym), but would search it in linear time for each address. */
#include "config.h"
#include "arch/arch.h"
#include "symbols/names/name_file.h"

#include <stdlib.h>
#include <string.h>

#define OVERLAPS_MAX 16 /* maximum number of symbols before an address that are examined */

enum { RANK_UNTYPED = 0, RANK_FUNCTION = 8, RANK_LOCAL = 0, RANK_WEAK = 1, RANK_GLOBAL = 2 };

static bool is_mapping_symbol(const char *name)
{
	/* $a, $d, $t and $x are the mapping symbols of ARM and AArch64; .L begins labels of compilers. */
	return name[0] == '$' || !strncmp(name, ".L", 2);
}

/* Returns the number of bytes from a symbol to the end of its section; 0 if the section does not contain code. */
static uint64_t left_in_code(Elf *elf, GElf_Word shndx, const GElf_Sym *sym)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elf_getscn(elf, shndx);

	if (!scn || !gelf_getshdr(scn, &shdr) || !(shdr.sh_flags & SHF_EXECINSTR) ||
	    sym->st_value - shdr.sh_addr >= shdr.sh_size)
		return 0;
	return shdr.sh_size - (sym->st_value - shdr.sh_addr);
}

static unsigned name_symbols_rank_of(const GElf_Sym *sym)
{
	const unsigned type = GELF_ST_TYPE(sym->st_info), bind = GELF_ST_BIND(sym->st_info);

	return (type == STT_NOTYPE ? RANK_UNTYPED : RANK_FUNCTION) + (bind == STB_LOCAL  ? RANK_LOCAL
								      : bind == STB_WEAK ? RANK_WEAK
											 : RANK_GLOBAL);
}

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

/* Orders symbols by address. Of the symbols at one address, functions come before symbols without a type, then global
 * before weak before local ones, then those with fewer underscores: malloc before __libc_malloc. */
static int name_symbols_by_start(const void *a, const void *b)
{
	const struct named_symbol *left = a, *right = b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	if (left->rank != right->rank)
		return left->rank > right->rank ? -1 : 1;
	const size_t l = underscores(left->name), r = underscores(right->name);

	if (l != r)
		return l < r ? -1 : 1;
	if (strlen(left->name) != strlen(right->name))
		return strlen(left->name) < strlen(right->name) ? -1 : 1;
	return strcmp(left->name, right->name);
}

static void keep_best(struct symbol_table *table)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->count; i++) {
		if (kept && table->items[kept - 1].start == table->items[i].start) {
			struct named_symbol *best = &table->items[kept - 1];

			if (best->is_open && !table->items[i].is_open) {
				best->size = table->items[i].size;
				best->is_open = false;
			}
			continue;
		}
		table->items[kept++] = table->items[i];
	}
	table->count = kept;
}

void symbol_table_read(struct symbol_table *table, Dwfl_Module *module)
{
	const int count = dwfl_module_getsymtab(module);
	GElf_Ehdr ehdr;
	GElf_Addr bias;
	Elf *main_elf = dwfl_module_getelf(module, &bias);
	const uint16_t machine = main_elf && gelf_getehdr(main_elf, &ehdr) ? ehdr.e_machine : EM_NONE;

	for (int i = 1; i < count; i++) {
		GElf_Sym sym;
		GElf_Addr address;
		GElf_Word shndx;
		Elf *elf;
		const char *name = dwfl_module_getsym_info(module, i, &sym, &address, &shndx, &elf, NULL);

		if (!name || !name[0] || shndx == SHN_UNDEF || shndx == SHN_ABS)
			continue;
		const unsigned type = GELF_ST_TYPE(sym.st_info);

		if (type != STT_FUNC && type != STT_GNU_IFUNC && (type != STT_NOTYPE || is_mapping_symbol(name)))
			continue;
		const bool is_sized = type != STT_NOTYPE && sym.st_size;
		const uint64_t left = is_sized ? sym.st_size : left_in_code(elf, shndx, &sym);

		if (!left)
			continue;
		ARRAY_GROW(table->items, table->capacity, table->count);
		table->items[table->count++] = (struct named_symbol){
			.start = arch_code_address(machine, address),
			.size = left,
			.is_open = !is_sized,
			.is_local = GELF_ST_BIND(sym.st_info) == STB_LOCAL,
			.name = name,
			.rank = name_symbols_rank_of(&sym),
		};
	}
	if (table->count)
		qsort(table->items, table->count, sizeof(*table->items), name_symbols_by_start);
	keep_best(table);
}

const struct named_symbol *symbol_table_find(const struct symbol_table *table, uint64_t address)
{
	const size_t low = COUNT_UP_TO(table->items, table->count, .start, address);

	/* A symbol without a size ends at the next symbol. */
	for (size_t i = low, n = 0; i-- > 0 && n < OVERLAPS_MAX; n++) {
		const struct named_symbol *symbol = &table->items[i];

		if (address - symbol->start < symbol->size && (!n || !symbol->is_open))
			return symbol;
	}
	return NULL;
}
