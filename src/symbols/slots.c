#include "config.h"
#include "symbols/elf_file.h"

#include <gelf.h>
#include <string.h>
#include <unistd.h>

bool elf_word_in_file(Elf *elf, uint64_t address, uint64_t *word)
{
	const size_t size = gelf_fsize(elf, ELF_T_ADDR, 1, EV_CURRENT);
	size_t count;
	GElf_Phdr phdr;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &phdr); i++) {
		const uint64_t offset = address - phdr.p_vaddr;

		if (phdr.p_type != PT_LOAD || offset >= phdr.p_filesz || phdr.p_filesz - offset < size ||
		    phdr.p_offset > INT64_MAX - offset)
			continue;
		const Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)(phdr.p_offset + offset), size, ELF_T_ADDR);

		if (!data || data->d_size != size)
			return false;
		uint32_t narrow;

		memcpy(size == sizeof(narrow) ? (void *)&narrow : (void *)word, data->d_buf, size);
		if (size == sizeof(narrow))
			*word = narrow;
		return true;
	}
	return false;
}

/* Relocation i of a section of either kind. False at the end of those that can be read. */
static bool get_relocation(Elf *elf, Elf_Data *relocations, const GElf_Shdr *header, size_t i, unsigned irelative,
			   GElf_Rela *rela)
{
	GElf_Rel rel;
	uint64_t addend = 0;

	if (header->sh_type == SHT_RELA)
		return gelf_getrela(relocations, (int)i, rela);
	if (!gelf_getrel(relocations, (int)i, &rel))
		return false;
	if (GELF_R_TYPE(rel.r_info) == irelative && !elf_word_in_file(elf, rel.r_offset, &addend))
		rel.r_info = 0; /* relocates nothing */
	*rela = (GElf_Rela){rel.r_offset, rel.r_info, (int64_t)addend};
	return true;
}

/* `type`: the relocation's. Else as an object_slot_callback. */
typedef bool (*raw_slot_callback)(void *context, unsigned type, const char *name, uint64_t resolver, uint64_t slot);

/* One relocation section against the dynamic symbols. False when the callback wants no more. */
static bool section_slots(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, uint64_t bias, unsigned irelative,
			  raw_slot_callback callback, void *context)
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

		if (!get_relocation(elf, relocations, header, i, irelative, &rela))
			return true;
		if (GELF_R_TYPE(rela.r_info) == irelative) {
			if (!callback(context, irelative, "", (uint64_t)rela.r_addend + bias, rela.r_offset + bias))
				return false;
			continue;
		}
		if (!named || !GELF_R_SYM(rela.r_info) || !gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &symbol))
			continue;
		name = elf_strptr(elf, symbols_header.sh_link, symbol.st_name);
		if (name && *name && !callback(context, GELF_R_TYPE(rela.r_info), name, 0, rela.r_offset + bias))
			return false;
	}
	return true;
}

bool elf_is_dynamic_relocation(const GElf_Shdr *header)
{
	return (header->sh_type == SHT_RELA || header->sh_type == SHT_REL) && (header->sh_flags & SHF_ALLOC);
}

static void all_slots(const struct object *object, uint64_t bias, unsigned irelative, raw_slot_callback callback,
		      void *context)
{
	const char *reason;
	struct stat st;
	const int fd = object->open_path ? open_regular(object->open_path, &st) : -1;
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	if (fd < 0)
		return;
	Elf *elf = elf_open(fd, &st, &reason);

	while (elf && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && elf_is_dynamic_relocation(&header) &&
		    !section_slots(elf, section, &header, bias, irelative, callback, context))
			break;
	elf_end(elf);
	close(fd);
}

struct asker {
	object_slot_callback callback;
	void *context;
};

static bool any_slot(void *context, unsigned type, const char *name, uint64_t resolver, uint64_t slot)
{
	const struct asker *asker = context;

	(void)type;
	return asker->callback(asker->context, name, resolver, slot);
}

void object_slots(const struct object *object, unsigned irelative, object_slot_callback callback, void *context)
{
	struct asker asker = {callback, context};

	all_slots(object, object->bias, irelative, any_slot, &asker);
}

/* ---- Slots of calls ---- */

#define CALL_SLOTS_MAX ((size_t)1 << 20)
#define NAME_MAX_KEPT  1024 /* what has a longer one is not told by it */
#define RELOC_NONE     0    /* of every processor */

struct call_slot {
	const char *name;
	uint64_t address; /* the file's own */
};

struct reading {
	struct elf_file *file;
	unsigned jump_slot, glob_dat;
	size_t capacity;
};

static bool keep_call_slot(void *context, unsigned type, const char *name, uint64_t resolver, uint64_t slot)
{
	struct reading *reading = context;
	struct elf_file *file = reading->file;

	const size_t length = strlen(name);

	(void)resolver;
	if ((type != reading->jump_slot && type != reading->glob_dat) || length > NAME_MAX_KEPT)
		return true;
	ARRAY_GROW(file->call_slots, reading->capacity, file->call_slot_count);
	file->call_slots[file->call_slot_count++] =
		(struct call_slot){.name = elf_keep_name(file, name, length), .address = slot};
	return file->call_slot_count < CALL_SLOTS_MAX;
}

void object_call_slots(const struct object *object, unsigned jump_slot, unsigned glob_dat,
		       object_slot_callback callback, void *context)
{
	struct elf_file *file = object->file;
	struct reading reading = {.file = file, .jump_slot = jump_slot, .glob_dat = glob_dat};

	if (!file->call_slots_read) {
		file->call_slots_read = true;
		all_slots(object, 0, RELOC_NONE, keep_call_slot, &reading);
		file->bytes += reading.capacity * sizeof(*file->call_slots);
	}
	for (size_t i = 0; i < file->call_slot_count; i++)
		if (!callback(context, file->call_slots[i].name, 0, file->call_slots[i].address + object->bias))
			return;
}
