#include "config.h"
#include "symbols/elf/elf_file.h"
#include "symbols/objects/mapped_object.h"
#include "base/buf.h"
#include "base/timed.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Limits of one file: number of slots (words that the dynamic linker fills), bytes of all names, bytes of one name. A
 * slot with a longer name is left out. */
#define SLOTS_MAX     ((size_t)1 << 22)
#define NAMES_MAX     ((size_t)256 << 20)
#define NAME_MAX_KEPT 1024

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

/* Gets relocation i of a section of type REL or RELA. In a section of type REL, the addend is read only for relocations
 * of type `irelative`, and is 0 for others. Returns false after the last relocation that can be read. */
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
		rel.r_info = 0; /* a type that relocates nothing */
	*rela = (GElf_Rela){rel.r_offset, rel.r_info, (int64_t)addend};
	return true;
}

/* ---- All slots of a file ---- */

struct raw_slot {
	unsigned type; /* type of the relocation */
	uint64_t resolver, address;
	size_t name; /* offset of the name in `names` */
};

/* The slots of a file, with addresses as in the file. */
struct slot_list {
	char *path;
	unsigned irelative;
	struct raw_slot *items;
	size_t count, capacity;
	struct buf names;
};

static void slot_list_free(void *context)
{
	struct slot_list *const list = context;

	free(list->path);
	free(list->items);
	buf_free(&list->names);
	free(list);
}

/* Adds a slot. Returns false if the list is full. */
static bool keep_slot(struct slot_list *list, const GElf_Rela *rela, const char *name, uint64_t resolver)
{
	const size_t size = strlen(name) + 1;

	if (size > NAME_MAX_KEPT + 1)
		return true;
	if (list->count == SLOTS_MAX || size > NAMES_MAX - list->names.size)
		return false;
	ARRAY_GROW(list->items, list->capacity, list->count);
	list->items[list->count++] = (struct raw_slot){.type = GELF_R_TYPE(rela->r_info),
						       .resolver = resolver,
						       .address = rela->r_offset,
						       .name = list->names.size};
	buf_add(&list->names, name, size);
	return true;
}

/* Adds the slots of one relocation section and the names of the dynamic symbols to which it refers. Returns false if
 * the list is full. */
static bool section_slots(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, struct slot_list *list)
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

		if (!get_relocation(elf, relocations, header, i, list->irelative, &rela))
			return true;
		if (GELF_R_TYPE(rela.r_info) == list->irelative) {
			if (!keep_slot(list, &rela, "", (uint64_t)rela.r_addend))
				return false;
			continue;
		}
		if (!named || !GELF_R_SYM(rela.r_info) || !gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &symbol))
			continue;
		name = elf_strptr(elf, symbols_header.sh_link, symbol.st_name);
		if (name && *name && !keep_slot(list, &rela, name, 0))
			return false;
	}
	return true;
}

bool elf_is_dynamic_relocation(const GElf_Shdr *header)
{
	return (header->sh_type == SHT_RELA || header->sh_type == SHT_REL) && (header->sh_flags & SHF_ALLOC);
}

static void read_slots(void *context)
{
	struct slot_list *const list = context;
	const char *reason;
	struct stat st;
	const int fd = open_regular(list->path, &st);
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	if (fd < 0)
		return;
	Elf *elf = elf_open(fd, &st, &reason);

	while (elf && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && elf_is_dynamic_relocation(&header) &&
		    !section_slots(elf, section, &header, list))
			break;
	elf_end(elf);
	close(fd);
}

/* Returns the object's slots, which the caller frees with slot_list_free(). Returns NULL if the file cannot be read, or
 * if reading takes too long (timed.h). */
static struct slot_list *slots_of(const struct object *object, unsigned irelative)
{
	struct slot_list *list;

	if (!object->open_path)
		return NULL;
	list = xcalloc(1, sizeof(*list));
	list->path = xstrdup(object->open_path);
	list->irelative = irelative;
	return timed_do(read_slots, slot_list_free, list) ? list : NULL;
}

void object_slots(const struct object *object, unsigned irelative, object_slot_callback callback, void *context)
{
	struct slot_list *const list = slots_of(object, irelative);

	for (size_t i = 0; list && i < list->count; i++) {
		const struct raw_slot *const slot = &list->items[i];
		const uint64_t resolver = slot->type == irelative ? slot->resolver + object->bias : 0;

		if (!callback(context, (const char *)list->names.data + slot->name, resolver,
			      slot->address + object->bias))
			break;
	}
	if (list)
		slot_list_free(list);
}

/* ---- Slots of calls ---- */

#define CALL_SLOTS_MAX ((size_t)1 << 20)
#define RELOC_NONE     0 /* this type has the same number on all processors */

static void keep_call_slots(struct elf_file *file, const struct slot_list *list, unsigned jump_slot, unsigned glob_dat)
{
	size_t capacity = 0;

	for (size_t i = 0; i < list->count && file->slots.call_slot_count < CALL_SLOTS_MAX; i++) {
		const struct raw_slot *const slot = &list->items[i];
		const char *const name = (const char *)list->names.data + slot->name;

		if (slot->type != jump_slot && slot->type != glob_dat)
			continue;
		ARRAY_GROW(file->slots.call_slots, capacity, file->slots.call_slot_count);
		file->slots.call_slots[file->slots.call_slot_count++] =
			(struct call_slot){.name = elf_keep_name(file, name, strlen(name)), .address = slot->address};
	}
	file->cached.bytes += capacity * sizeof(*file->slots.call_slots);
}

void object_call_slots(const struct object *object, unsigned jump_slot, unsigned glob_dat,
		       object_slot_callback callback, void *context)
{
	struct elf_file *file = object->file;

	if (!file->slots.call_slots_read) {
		struct slot_list *const list = slots_of(object, RELOC_NONE);

		file->slots.call_slots_read = true;
		if (list) {
			keep_call_slots(file, list, jump_slot, glob_dat);
			slot_list_free(list);
		}
	}
	for (size_t i = 0; i < file->slots.call_slot_count; i++)
		if (!callback(context, file->slots.call_slots[i].name, 0,
			      file->slots.call_slots[i].address + object->bias))
			return;
}
