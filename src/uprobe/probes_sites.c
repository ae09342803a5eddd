#include "config.h"
#include "uprobe/probes_sites.h"
#include "arch/arch.h"
#include "base/util.h"
#include "modules/builtin.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The files may be made by anyone: all numbers in them are checked. */
#define SECTIONS_MAX 65536
#define SEGMENTS_MAX 256
#define SYMBOLS_MAX  (1u << 24)
#define CHUNK        512 /* symbols that are read at once */
#define NAME_LIMIT   128
#define CODE_MAX     4096 /* as in kernel_sites.c */
#define SITE_MAX     64   /* a site is at most this many bytes after the function's entry */

struct checked_file {
	int fd;
	Elf64_Ehdr header;
	Elf64_Phdr segments[SEGMENTS_MAX];
	const struct uprobe_site *sites;
	size_t count, left; /* left: number of sites that are not found yet */
	bool *is_found;
	bool at_return;
};

/* Returns true if the module `memory` has a function of this name that may have such a probe. An exception may leave
 * operator new, so its return has none. */
static bool is_allocators_function(const char *name, bool at_return)
{
	const struct module *const memory = builtin_module("memory");

	for (size_t i = 0; i < memory->function_count; i++) {
		const struct function *const f = &memory->functions[i];
		const bool is_c = f->family && !strcmp(f->family, "malloc");

		if (f->is_pattern || (at_return && (f->role == ROLE_RELEASE || !is_c)))
			continue;
		if (!strcmp(f->symbol, name))
			return true;
		for (size_t j = 0; f->symbol[0] == '*' && memory->prefixes && memory->prefixes[j]; j++) {
			const size_t length = strlen(memory->prefixes[j]);

			if (!strncmp(name, memory->prefixes[j], length) && !strcmp(name + length, f->symbol + 1))
				return true;
		}
	}
	return false;
}

/* Sets *offset to the place in the file of an address of code; *rest to the number of bytes from there to the segment's
 * end. */
static bool find_segment_code(const struct checked_file *file, uint64_t address, uint64_t *offset, uint64_t *rest)
{
	for (unsigned i = 0; i < file->header.e_phnum; i++) {
		const Elf64_Phdr *const s = &file->segments[i];

		if (s->p_type != PT_LOAD || !(s->p_flags & PF_X) || address < s->p_vaddr ||
		    address - s->p_vaddr >= s->p_filesz || s->p_offset > INT64_MAX - s->p_filesz)
			continue;
		*offset = s->p_offset + (address - s->p_vaddr);
		*rest = s->p_filesz - (address - s->p_vaddr);
		return true;
	}
	return false;
}

/* Returns true if functrace would choose `distance` as the site of the function at `offset`. */
static bool is_chosen_site(const struct checked_file *file, uint64_t offset, uint64_t size, uint64_t distance)
{
	unsigned char code[CODE_MAX];
	size_t chosen;

	if (size > sizeof(code) || read_all_at(file->fd, code, size, offset))
		return false;
	for (unsigned arguments = 0; arguments <= UPROBE_ARGS; arguments++)
		if (arch_uprobe_place(arch_native(), code, size, arguments, &chosen) && chosen == distance)
			return true;
	return false;
}

static void check_symbol(struct checked_file *file, const Elf64_Sym *symbol, const Elf64_Shdr *names)
{
	uint64_t offset, rest;
	char name[NAME_LIMIT];

	if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF ||
	    !find_segment_code(file, symbol->st_value, &offset, &rest))
		return;
	for (size_t i = 0; i < file->count; i++) {
		const uint64_t distance = file->sites[i].offset - offset;

		if (file->is_found[i] || file->sites[i].offset < offset || distance >= SITE_MAX || distance >= rest)
			continue;
		const uint64_t left = symbol->st_name < names->sh_size ? names->sh_size - symbol->st_name : 0;
		const size_t length = left < sizeof(name) ? left : sizeof(name);

		if (!length || names->sh_offset > INT64_MAX - names->sh_size ||
		    read_all_at(file->fd, name, length, names->sh_offset + symbol->st_name) ||
		    !memchr(name, '\0', length) || !is_allocators_function(name, file->at_return))
			return;
		uint64_t size = symbol->st_size && symbol->st_size < CODE_MAX ? symbol->st_size : CODE_MAX;

		size = size < rest ? size : rest;
		if (!is_chosen_site(file, offset, size, distance))
			continue;
		file->is_found[i] = true;
		file->left--;
	}
}

static void check_symbols(struct checked_file *file, const Elf64_Shdr *table, const Elf64_Shdr *names)
{
	const uint64_t total = table->sh_size / sizeof(Elf64_Sym);
	Elf64_Sym symbols[CHUNK];

	if (total > SYMBOLS_MAX || table->sh_offset > INT64_MAX - table->sh_size)
		return;
	for (uint64_t at = 0; at < total && file->left; at += CHUNK) {
		const size_t count = total - at < CHUNK ? total - at : CHUNK;

		if (read_all_at(file->fd, symbols, count * sizeof(*symbols), table->sh_offset + at * sizeof(*symbols)))
			return;
		for (size_t i = 0; i < count && file->left; i++)
			check_symbol(file, &symbols[i], names);
	}
}

static int check_sections(struct checked_file *file)
{
	const Elf64_Ehdr *const header = &file->header;
	Elf64_Shdr *const sections = xcalloc(header->e_shnum, sizeof(*sections));
	const int error = read_all_at(file->fd, sections, header->e_shnum * sizeof(*sections), header->e_shoff);

	for (unsigned i = 0; i < header->e_shnum && !error; i++)
		if ((sections[i].sh_type == SHT_DYNSYM || sections[i].sh_type == SHT_SYMTAB) &&
		    sections[i].sh_link < header->e_shnum)
			check_symbols(file, &sections[i], &sections[sections[i].sh_link]);
	free(sections);
	return error ? error : file->left ? -EACCES : 0;
}

static int read_elf_headers(struct checked_file *file)
{
	Elf64_Ehdr *const header = &file->header;
	struct stat info;

	if (fstat(file->fd, &info))
		return -errno;
	if (!S_ISREG(info.st_mode))
		return -EACCES;
	const int error = read_all_at(file->fd, header, sizeof(*header), 0);

	if (error)
		return error;
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
	    header->e_machine != arch_native()->elf_machine || header->e_phentsize != sizeof(Elf64_Phdr) ||
	    header->e_shentsize != sizeof(Elf64_Shdr) || header->e_phnum > SEGMENTS_MAX || !header->e_shnum ||
	    header->e_phoff > INT64_MAX || header->e_shoff > INT64_MAX)
		return -EACCES;
	return read_all_at(file->fd, file->segments, header->e_phnum * sizeof(*file->segments), header->e_phoff);
}

int probes_check_sites(int fd, const struct uprobe_site *sites, size_t count, bool at_return)
{
	struct checked_file *const file = xcalloc(1, sizeof(*file));

	*file = (struct checked_file){.fd = fd, .sites = sites, .count = count, .left = count, .at_return = at_return};
	file->is_found = xcalloc(count, sizeof(*file->is_found));
	int error = arch_native()->uprobe.site ? read_elf_headers(file) : -EACCES;

	if (!error)
		error = check_sections(file);
	free(file->is_found);
	free(file);
	return error;
}
