#include "config.h"
#include "symbols/elf/elf_headers.h"
#include "base/util.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char elf_reason_no_elf[] = "it is no ELF file";

#define HOLLOW_MIN ((uint64_t)1 << 20) /* size, in bytes, of the smallest section that is checked for holes */

/* Offset and size of a field, in files of 32 bits and of 64 bits. */
struct field {
	unsigned char offset[2], size[2];
};

#define FIELD(type, member)                                                                                            \
	{                                                                                                              \
		{offsetof(Elf32_##type, member), offsetof(Elf64_##type, member)},                                      \
		{                                                                                                      \
			sizeof(((Elf32_##type *)0)->member), sizeof(((Elf64_##type *)0)->member)                       \
		}                                                                                                      \
	}

static const struct field fields[] = {
	[EHDR_PHOFF] = FIELD(Ehdr, e_phoff),         [EHDR_SHOFF] = FIELD(Ehdr, e_shoff),
	[EHDR_PHENTSIZE] = FIELD(Ehdr, e_phentsize), [EHDR_PHNUM] = FIELD(Ehdr, e_phnum),
	[EHDR_SHENTSIZE] = FIELD(Ehdr, e_shentsize), [EHDR_SHNUM] = FIELD(Ehdr, e_shnum),
	[EHDR_SHSTRNDX] = FIELD(Ehdr, e_shstrndx),   [PHDR_TYPE] = FIELD(Phdr, p_type),
	[PHDR_OFFSET] = FIELD(Phdr, p_offset),       [PHDR_FILESZ] = FIELD(Phdr, p_filesz),
	[SHDR_NAME] = FIELD(Shdr, sh_name),          [SHDR_TYPE] = FIELD(Shdr, sh_type),
	[SHDR_FLAGS] = FIELD(Shdr, sh_flags),        [SHDR_OFFSET] = FIELD(Shdr, sh_offset),
	[SHDR_SIZE] = FIELD(Shdr, sh_size),          [CHDR_SIZE] = FIELD(Chdr, ch_size),
};

/* Returns the index of the i-th byte, counted from the least significant one, of a number of `size` bytes in the
 * file. */
static size_t byte_index(const struct elf_headers *headers, size_t i, size_t size)
{
	const bool is_big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != headers->swap;

	return is_big ? size - 1 - i : i;
}

uint64_t elf_field_get(const struct elf_headers *headers, const unsigned char *entry, enum elf_field field)
{
	const unsigned char *at = entry + fields[field].offset[headers->is64];
	const size_t size = fields[field].size[headers->is64];
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)at[byte_index(headers, i, size)] << 8 * i;
	return value;
}

void elf_field_set(const struct elf_headers *headers, unsigned char *entry, enum elf_field field, uint64_t value)
{
	unsigned char *at = entry + fields[field].offset[headers->is64];
	const size_t size = fields[field].size[headers->is64];

	for (size_t i = 0; i < size; i++)
		at[byte_index(headers, i, size)] = (unsigned char)(value >> 8 * i);
}

unsigned char *elf_headers_section(const struct elf_headers *headers, size_t i)
{
	return headers->sections + i * headers->section_size;
}

unsigned char *elf_headers_segment(const struct elf_headers *headers, size_t i)
{
	return headers->segments + i * headers->segment_size;
}

const char *elf_headers_name(const struct elf_headers *headers, const unsigned char *section)
{
	const uint64_t offset = elf_field_get(headers, section, SHDR_NAME);

	return offset < headers->names_size ? headers->names + offset : "";
}

bool elf_read_at(int fd, uint64_t offset, void *data, size_t size)
{
	return !read_all_at(fd, data, size, offset);
}

bool elf_is_in_file(const struct stat *st, uint64_t offset, uint64_t size)
{
	return offset <= (uint64_t)st->st_size && size <= (uint64_t)st->st_size - offset;
}

/* Reads `size` bytes of the file into new memory, and adds a NUL. Returns NULL if the file ends before. */
static void *elf_headers_read_part(int fd, const struct stat *st, uint64_t offset, size_t size)
{
	char *part = elf_is_in_file(st, offset, size) ? xmalloc(size + 1) : NULL;

	if (part && !elf_read_at(fd, offset, part, size)) {
		free(part);
		part = NULL;
	}
	if (part)
		part[size] = '\0';
	return part;
}

static bool read_ehdr(int fd, struct elf_headers *headers)
{
	const unsigned char *const ident = headers->ehdr;

	if (!elf_read_at(fd, 0, headers->ehdr, sizeof(Elf32_Ehdr)) || memcmp(ident, ELFMAG, SELFMAG) != 0 ||
	    (ident[EI_CLASS] != ELFCLASS32 && ident[EI_CLASS] != ELFCLASS64) ||
	    (ident[EI_DATA] != ELFDATA2LSB && ident[EI_DATA] != ELFDATA2MSB))
		return false;
	headers->is64 = ident[EI_CLASS] == ELFCLASS64;
	headers->swap = (ident[EI_DATA] == ELFDATA2MSB) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	headers->ehdr_size = headers->is64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
	return elf_read_at(fd, 0, headers->ehdr, headers->ehdr_size);
}

static bool elf_headers_read_segments(int fd, const struct stat *st, struct elf_headers *headers)
{
	const uint64_t offset = elf_field_get(headers, headers->ehdr, EHDR_PHOFF);
	const uint64_t count = offset ? elf_field_get(headers, headers->ehdr, EHDR_PHNUM) : 0;

	headers->segment_size = headers->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	if (!count)
		return true;
	if (count > ELF_SEGMENTS_MAX || elf_field_get(headers, headers->ehdr, EHDR_PHENTSIZE) != headers->segment_size)
		return false;
	headers->segments = elf_headers_read_part(fd, st, offset, count * headers->segment_size);
	headers->segment_count = headers->segments ? count : 0;
	return headers->segments;
}

/* Reads the section names; leaves them out if they are not completely in the file. Returns false if they are too
 * large. */
static bool read_names(int fd, const struct stat *st, struct elf_headers *headers)
{
	const uint64_t index = elf_field_get(headers, headers->ehdr, EHDR_SHSTRNDX);

	if (index >= headers->section_count)
		return true;
	const unsigned char *const section = elf_headers_section(headers, index);
	const uint64_t size = elf_field_get(headers, section, SHDR_SIZE);

	if (elf_field_get(headers, section, SHDR_TYPE) == SHT_NOBITS)
		return true;
	if (size > ELF_NAMES_MAX)
		return false;
	headers->names = elf_headers_read_part(fd, st, elf_field_get(headers, section, SHDR_OFFSET), size);
	headers->names_size = headers->names ? size : 0;
	return true;
}

/* Reads the section header table. A table that is not completely in the file is left out. Returns false if reading
 * fails, if there are too many sections, if their names are too large, or if there is a table but e_shnum is 0: then
 * either the first entry contains the number of sections, which is above the limit, or the file is damaged. */
static bool elf_headers_read_sections(int fd, const struct stat *st, struct elf_headers *headers)
{
	const uint64_t offset = elf_field_get(headers, headers->ehdr, EHDR_SHOFF);
	const uint64_t count = elf_field_get(headers, headers->ehdr, EHDR_SHNUM);

	headers->section_size = headers->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	if (!offset || !elf_is_in_file(st, offset, headers->section_size))
		return true;
	if (!count || count > ELF_SECTIONS_MAX)
		return false;
	if (elf_field_get(headers, headers->ehdr, EHDR_SHENTSIZE) != headers->section_size ||
	    !elf_is_in_file(st, offset, count * headers->section_size))
		return true;
	headers->sections = elf_headers_read_part(fd, st, offset, count * headers->section_size);
	headers->section_count = headers->sections ? count : 0;
	return headers->sections && read_names(fd, st, headers);
}

/* Returns true if no segment of notes is larger than the limit. The search for the build-id reads all notes. */
static bool are_notes_bounded(const struct elf_headers *headers)
{
	for (size_t i = 0; i < headers->segment_count; i++) {
		const unsigned char *const segment = elf_headers_segment(headers, i);

		if (elf_field_get(headers, segment, PHDR_TYPE) == PT_NOTE &&
		    elf_field_get(headers, segment, PHDR_FILESZ) > ELF_NOTE_MAX)
			return false;
	}
	return true;
}

bool elf_headers_read(int fd, const struct stat *st, struct elf_headers *headers, const char **reason)
{
	*headers = (struct elf_headers){0};
	if (!read_ehdr(fd, headers)) {
		*reason = elf_reason_no_elf;
		return false;
	}
	if (elf_headers_read_segments(fd, st, headers) && are_notes_bounded(headers) &&
	    elf_headers_read_sections(fd, st, headers))
		return true;
	*reason = "its ELF headers are damaged, or larger than any linker makes them";
	elf_headers_free(headers);
	return false;
}

bool elf_is_cut(int fd, const struct stat *st)
{
	struct elf_headers headers = {0};

	if (!read_ehdr(fd, &headers))
		return false;
	const uint64_t offset = elf_field_get(&headers, headers.ehdr, EHDR_SHOFF);
	const uint64_t count = elf_field_get(&headers, headers.ehdr, EHDR_SHNUM);

	return offset && !elf_is_in_file(st, offset, count * elf_field_get(&headers, headers.ehdr, EHDR_SHENTSIZE));
}

bool elf_is_hollow(int fd, uint64_t offset, uint64_t size)
{
	uint64_t data = 0;

	if (size < HOLLOW_MIN || offset > INT64_MAX - size)
		return false;
	for (uint64_t at = offset, end = offset + size; at < end;) {
		const off_t start = lseek(fd, (off_t)at, SEEK_DATA);

		if (start < 0 || (uint64_t)start >= end)
			return data < size / 2 && (start >= 0 || errno == ENXIO);
		const off_t hole = lseek(fd, start, SEEK_HOLE);

		if (hole <= start)
			return false;
		at = (uint64_t)hole < end ? (uint64_t)hole : end;
		data += at - (uint64_t)start;
	}
	return data < size / 2;
}

static const char reason_symbols[] = "its table of symbols is larger than 192 MiB, the most that is read";
static const char reason_strings[] = "its table of names is larger than 512 MiB, the most that is read";
static const char reason_relocations[] = "its table of relocations is larger than 256 MiB, the most that is read";
static const char reason_notes[] = "its notes are larger than 1 MiB, the most that is read";
static const char reason_hollow[] = "most of one of its tables is a hole in the file";

static const struct table_limit {
	uint64_t type, most;
	const char *reason;
} table_limits[] = {
	{SHT_SYMTAB, ELF_SYMBOLS_MAX, reason_symbols},       {SHT_DYNSYM, ELF_SYMBOLS_MAX, reason_symbols},
	{SHT_STRTAB, ELF_STRINGS_MAX, reason_strings},       {SHT_REL, ELF_RELOCATIONS_MAX, reason_relocations},
	{SHT_RELA, ELF_RELOCATIONS_MAX, reason_relocations}, {SHT_NOTE, ELF_NOTE_MAX, reason_notes},
};

static const struct table_limit *table_limit_of(uint64_t type)
{
	static const struct table_limit none = {.most = UINT64_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(table_limits); i++)
		if (table_limits[i].type == type)
			return &table_limits[i];
	return &none;
}

uint64_t elf_table_max(uint64_t type)
{
	return table_limit_of(type)->most;
}

bool elf_reason_is_excess(const char *reason)
{
	return reason == reason_symbols || reason == reason_strings || reason == reason_relocations ||
	       reason == reason_notes || reason == reason_hollow;
}

const char *elf_headers_excess(const struct elf_headers *headers, int fd)
{
	for (size_t i = 0; i < headers->section_count; i++) {
		const unsigned char *const section = elf_headers_section(headers, i);
		const struct table_limit *limit = table_limit_of(elf_field_get(headers, section, SHDR_TYPE));
		const uint64_t size = elf_field_get(headers, section, SHDR_SIZE);

		if (size > limit->most)
			return limit->reason;
		if (limit->most < UINT64_MAX && elf_is_hollow(fd, elf_field_get(headers, section, SHDR_OFFSET), size))
			return reason_hollow;
	}
	return NULL;
}

void elf_headers_free(struct elf_headers *headers)
{
	free(headers->segments);
	free(headers->sections);
	free(headers->names);
	*headers = (struct elf_headers){0};
}
