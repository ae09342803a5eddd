#include "config.h"
#include "symbols/object.h"

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

/* One relocation section against the dynamic symbols. False when the callback wants no more. */
static bool section_slots(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, uint64_t bias, unsigned irelative,
			  object_slot_callback callback, void *context)
{
	Elf_Data *relocations = elf_getdata(section, NULL);
	Elf_Scn *symbols_section = elf_getscn(elf, header->sh_link);
	Elf_Data *symbols = symbols_section ? elf_getdata(symbols_section, NULL) : NULL;
	GElf_Shdr symbols_header;
	const bool named = symbols && gelf_getshdr(symbols_section, &symbols_header);

	if (!relocations || !header->sh_entsize)
		return true;
	for (size_t i = 0; i < relocations->d_size / header->sh_entsize && i < INT32_MAX; i++) {
		GElf_Rela rela;
		GElf_Sym symbol;
		const char *name = "";

		if (!gelf_getrela(relocations, (int)i, &rela))
			return true;
		if (GELF_R_TYPE(rela.r_info) == irelative) {
			if (!callback(context, "", (uint64_t)rela.r_addend + bias, rela.r_offset + bias))
				return false;
			continue;
		}
		if (!named || !GELF_R_SYM(rela.r_info) || !gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &symbol))
			continue;
		name = elf_strptr(elf, symbols_header.sh_link, symbol.st_name);
		if (name && *name && !callback(context, name, 0, rela.r_offset + bias))
			return false;
	}
	return true;
}

void object_slots(const struct object *object, unsigned irelative, object_slot_callback callback, void *context)
{
	const int fd = object->open_path ? open(object->open_path, O_RDONLY | O_CLOEXEC) : -1;
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);

	while (elf && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA && (header.sh_flags & SHF_ALLOC) &&
		    !section_slots(elf, section, &header, object->bias, irelative, callback, context))
			break;
	elf_end(elf);
	close(fd);
}
