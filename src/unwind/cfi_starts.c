/* Finds the entry points of programs and threads. No code calls them, and they have no call frame information. */
#include "config.h"
#include "arch/arch.h"
#include "base/util.h"
#include "unwind/cfi.h"

#include <gelf.h>
#include <string.h>

#define START_SYMBOLS_MAX  4000000
#define START_SIZE_UNKNOWN 128 /* bytes that an entry point is assumed to have if its symbol has no size */

static void add_start(struct cfi *cfi, uint64_t start, uint64_t size)
{
	if (cfi->start_count < ARRAY_SIZE(cfi->starts))
		cfi->starts[cfi->start_count++] = (struct cfi_range){start, add_saturated(start, size)};
}

static void add_start_symbols(struct cfi *cfi, Elf *elf, Elf_Scn *section, const GElf_Shdr *shdr, uint16_t machine)
{
	/* Names of the entry points of programs and threads in C libraries whose entry points have no CFI. */
	static const char *const names[] = {"_start", "_dl_start_user", "clone", "__clone", "clone3", "__clone3"};
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = shdr->sh_entsize ? shdr->sh_size / shdr->sh_entsize : 0;
	GElf_Sym symbol;

	if (count > START_SYMBOLS_MAX)
		count = START_SYMBOLS_MAX;
	for (size_t i = 0; data && i < count && gelf_getsym(data, (int)i, &symbol); i++) {
		const char *name;

		if (GELF_ST_TYPE(symbol.st_info) > STT_FUNC || symbol.st_shndx == SHN_UNDEF)
			continue;
		name = elf_strptr(elf, shdr->sh_link, symbol.st_name);
		for (size_t k = 0; name && k < ARRAY_SIZE(names); k++)
			if (!strcmp(name, names[k]))
				add_start(cfi, arch_code_address(machine, symbol.st_value),
					  symbol.st_size ? symbol.st_size : START_SIZE_UNKNOWN);
	}
}

void cfi_read_starts(struct cfi *cfi, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Ehdr ehdr = {0};
	GElf_Shdr shdr;

	if (gelf_getehdr(elf, &ehdr) && ehdr.e_entry)
		add_start(cfi, arch_code_address(ehdr.e_machine, ehdr.e_entry), START_SIZE_UNKNOWN);
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &shdr) && (shdr.sh_type == SHT_SYMTAB || shdr.sh_type == SHT_DYNSYM))
			add_start_symbols(cfi, elf, section, &shdr, ehdr.e_machine);
}

bool cfi_find_start(const struct cfi *cfi, uint64_t address)
{
	for (size_t i = 0; i < cfi->start_count; i++)
		if (address >= cfi->starts[i].start && address < cfi->starts[i].end)
			return true;
	return false;
}
