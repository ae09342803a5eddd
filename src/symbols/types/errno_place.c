#include "config.h"
#include "symbols/types/errno_place.h"
#include "symbols/elf/elf_file.h"
#include "base/timed.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CODE_READ 32 /* bytes of code of __errno_location() that are read */

/* A symbol table, and the offset of errno in the segment of thread-local variables. */
struct thread_symbols {
	Elf_Data *data;
	size_t count, strings;
	uint64_t value;
};

static bool read_symbol(Elf *elf, const struct thread_symbols *symbols, size_t i, bool *is_errno, uint64_t *value)
{
	GElf_Sym symbol;

	if (i >= symbols->count || !gelf_getsym(symbols->data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
	    GELF_ST_TYPE(symbol.st_info) != STT_TLS)
		return false;
	const char *name = elf_strptr(elf, symbols->strings, symbol.st_name);

	*is_errno = name && !strcmp(name, "errno");
	*value = symbol.st_value;
	return true;
}

/* Finds a symbol table of this type (SHT_SYMTAB or SHT_DYNSYM) that contains the thread-local variable errno, and sets
 * symbols->value to the variable's offset in the TLS segment. Returns false if there is no such table. */
static bool find_symbols(Elf *elf, uint32_t type, struct thread_symbols *symbols)
{
	GElf_Shdr header;

	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		if (!gelf_getshdr(section, &header) || header.sh_type != type || !header.sh_entsize)
			continue;
		symbols->data = elf_getdata(section, NULL);
		symbols->count = symbols->data ? symbols->data->d_size / header.sh_entsize : 0;
		symbols->strings = header.sh_link;
		for (size_t i = 0; i < symbols->count && i < INT32_MAX; i++) {
			bool is_errno;

			if (read_symbol(elf, symbols, i, &is_errno, &symbols->value) && is_errno)
				return true;
		}
	}
	return false;
}

/* ---- Slots of a shared library ---- */

/* Sets *value to the offset, in the library's own TLS segment, of the thread-local variable to which a relocation
 * refers: the value of the relocation's symbol (0 if it has no symbol) plus the addend. Returns false if the relocation
 * has a symbol other than errno. */
static bool relocated_variable(Elf *elf, const struct thread_symbols *symbols, const GElf_Rela *rela, uint64_t *value)
{
	const size_t symbol = GELF_R_SYM(rela->r_info);
	bool is_errno = true;

	*value = 0;
	if (symbol && (!read_symbol(elf, symbols, symbol, &is_errno, value) || !is_errno))
		return false;
	*value += (uint64_t)rela->r_addend;
	return true;
}

/* Searches the section for relocations of this type, for each of which the dynamic linker fills a slot (ERRNO_SLOT).
 * Sets *place to the slot of errno itself. If there is none, sets *place to the slot of another variable, unless *place
 * was set before. */
static void find_slot(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, unsigned type,
		      const struct thread_symbols *symbols, struct errno_place *place)
{
	Elf_Data *relocations = elf_getdata(section, NULL);
	const bool has_addend = header->sh_type == SHT_RELA;
	GElf_Rela rela;
	GElf_Rel rel;

	if (!relocations || !header->sh_entsize)
		return;
	for (size_t i = 0; i < relocations->d_size / header->sh_entsize && i < INT32_MAX; i++) {
		uint64_t word, value;

		if (has_addend ? !gelf_getrela(relocations, (int)i, &rela) : !gelf_getrel(relocations, (int)i, &rel))
			return;
		if (!has_addend)
			rela = (GElf_Rela){.r_offset = rel.r_offset, .r_info = rel.r_info};
		if (GELF_R_TYPE(rela.r_info) != type || !elf_word_in_file(elf, rela.r_offset, &word))
			continue;
		if (!has_addend)
			rela.r_addend = (int64_t)word;
		if (!relocated_variable(elf, symbols, &rela, &value))
			continue;
		if (place->kind == ERRNO_NONE || value == symbols->value)
			*place = (struct errno_place){.kind = ERRNO_SLOT,
						      .slot = rela.r_offset,
						      .unfilled = word,
						      .offset = (int64_t)(symbols->value - value)};
		if (value == symbols->value)
			return;
	}
}

static void read_slot(Elf *elf, const struct arch *arch, struct errno_place *place)
{
	struct thread_symbols symbols = {0};
	GElf_Shdr header;

	if (!find_symbols(elf, SHT_DYNSYM, &symbols))
		return;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));)
		if (gelf_getshdr(section, &header) && elf_is_dynamic_relocation(&header))
			find_slot(elf, section, &header, arch->abi->reloc_tpoff, &symbols, place);
}

/* ---- A static program's variable ---- */

/* Returns the offset of the program's own segment of thread-local variables from the thread pointer. The program's
 * segment is the first one after the thread pointer (variant I), or the last one before it (variant II). Modulo the
 * segment's alignment, the offset equals the segment's address in the file ("ELF Handling For Thread-Local Storage",
 * sections 3 and 4). */
static int64_t segment_offset(const struct arch_tls *tls, const GElf_Phdr *segment)
{
	const uint64_t mask = segment->p_align ? segment->p_align - 1 : 0;

	if (tls->is_below_variables)
		return (int64_t)(tls->head + ((segment->p_vaddr - tls->head) & mask));
	return -(int64_t)(segment->p_memsz + ((-segment->p_vaddr - segment->p_memsz) & mask));
}

static void read_variable(Elf *elf, const struct arch *arch, struct errno_place *place)
{
	struct thread_symbols symbols = {0};
	size_t count;
	GElf_Phdr phdr;

	if (!find_symbols(elf, SHT_SYMTAB, &symbols) || elf_getphdrnum(elf, &count))
		return;
	for (size_t i = 0; i < count && i < PHDRS_MAX && gelf_getphdr(elf, (int)i, &phdr); i++)
		if (phdr.p_type == PT_TLS && !(phdr.p_align & (phdr.p_align - 1)) && symbols.value < phdr.p_memsz)
			*place = (struct errno_place){.kind = ERRNO_VARIABLE,
						      .offset = segment_offset(&arch->tls, &phdr) +
								(int64_t)symbols.value};
}

/* ---- A function that returns the address of a field ---- */

static void read_field(const struct elf_file *file, Elf *elf, const struct arch *arch, struct errno_place *place)
{
	struct elf_symbol symbol;

	if (!elf_file_find(file, "__errno_location", &symbol) || symbol.is_ifunc)
		return;
	const uint64_t at = arch_text_address(arch, symbol.value), state = symbol.value & arch->code_state.bits;

	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *segment = &file->segments[i];
		const uint64_t in = at - segment->vaddr, left = segment->file_size - in;

		if (!segment->exec || in >= segment->file_size)
			continue;
		const Elf_Data *code = elf_getdata_rawchunk(elf, (int64_t)(segment->offset + in),
							    left < CODE_READ ? left : CODE_READ, ELF_T_BYTE);

		if (code && arch->abi->thread_field(code->d_buf, code->d_size, state, &place->offset))
			place->kind = ERRNO_FIELD;
		return;
	}
}

struct errno_place_reading {
	char *path;
	struct elf_file *file; /* this struct has its own reference to the file */
	const struct arch *arch;
	struct errno_place place;
};

static void errno_place_reading_free(void *context)
{
	struct errno_place_reading *const reading = context;

	elf_file_unref(reading->file);
	free(reading->path);
	free(reading);
}

static void errno_place_read_place(void *context)
{
	struct errno_place_reading *const reading = context;
	const struct elf_file *const file = reading->file;
	const char *reason;
	struct stat st;
	const int fd = open_regular(reading->path, &st);

	if (fd < 0)
		return;
	Elf *elf = elf_open(fd, &st, &reason);

	if (elf && elf_file_is_static(file))
		read_variable(elf, reading->arch, &reading->place);
	else if (elf)
		read_slot(elf, reading->arch, &reading->place);
	if (elf && reading->place.kind == ERRNO_NONE)
		read_field(file, elf, reading->arch, &reading->place);
	elf_end(elf);
	close(fd);
}

/* Reads from the object's file where errno is, and sets *place; place->kind is ERRNO_NONE if the place is not found, or
 * if the file cannot be read. Returns false if reading takes too long. */
static bool errno_place_find_place(const struct object *object, const struct arch *arch, struct errno_place *place)
{
	struct errno_place_reading *const reading = xcalloc(1, sizeof(*reading));

	*reading = (struct errno_place_reading){
		.path = xstrdup(object->open_path), .file = object->file, .arch = arch, .place = {.kind = ERRNO_NONE}};
	elf_file_ref(object->file);
	if (!timed_do(errno_place_read_place, errno_place_reading_free, reading))
		return false;
	*place = reading->place;
	errno_place_reading_free(reading);
	return true;
}

struct errno_place object_errno_place(const struct object *object, const struct arch *arch)
{
	struct elf_file *file = object->file;
	struct errno_place place = {.kind = ERRNO_NONE};

	if (!file->errno_place) {
		if (object->open_path && arch->elf_machine == file->machine && arch->elf_class == file->class &&
		    !errno_place_find_place(object, arch, &place))
			return place; /* late: the next call tries again */
		file->errno_place = xmalloc(sizeof(*file->errno_place));
		*file->errno_place = place;
	}
	place = *file->errno_place;
	place.slot += object->bias;
	return place;
}
