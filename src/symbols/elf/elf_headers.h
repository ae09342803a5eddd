/* Reads the headers of an ELF file without a library, so that the sizes in them can be checked before a library
 * allocates or reads that much. */
#ifndef FT_SYMBOLS_ELF_ELF_HEADERS_H
#define FT_SYMBOLS_ELF_ELF_HEADERS_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define ELF_SECTIONS_MAX    65279        /* the largest count in an ELF header */
#define ELF_SEGMENTS_MAX    4096         /* program headers */
#define ELF_NAMES_MAX       (16u << 20)  /* bytes of the sections' names */
#define ELF_NOTE_MAX        (1u << 20)   /* bytes of one segment or section of notes */
#define ELF_SYMBOLS_MAX     (192u << 20) /* bytes of a table of symbols: 8 million in a 64-bit file */
#define ELF_STRINGS_MAX     (512u << 20) /* bytes of a table of names */
#define ELF_RELOCATIONS_MAX (256u << 20) /* bytes of a section of relocations */

/* The reason for a file that is simply not an object; compare its address. */
extern const char elf_reason_no_elf[];

/* Fields of the file's header, and of an entry of its tables. */
enum elf_field {
	EHDR_PHOFF,
	EHDR_SHOFF,
	EHDR_PHENTSIZE,
	EHDR_PHNUM,
	EHDR_SHENTSIZE,
	EHDR_SHNUM,
	EHDR_SHSTRNDX,
	PHDR_TYPE,
	PHDR_OFFSET,
	PHDR_FILESZ,
	SHDR_NAME,
	SHDR_TYPE,
	SHDR_FLAGS,
	SHDR_OFFSET,
	SHDR_SIZE,
	CHDR_SIZE, /* of the header of a compressed section */
};

struct elf_headers {
	bool is64, swap; /* swap: the file has the other byte order */
	unsigned char ehdr[64];
	size_t ehdr_size;
	unsigned char *segments, *sections; /* the tables; NULL: none */
	size_t segment_count, segment_size; /* _size: of an entry */
	size_t section_count, section_size;
	char *names;       /* of the sections, with a NUL after them; NULL: none */
	size_t names_size; /* without that NUL */
};

/* Reads the headers of the regular file `fd`, as st describes it. False and *reason (a static text) if it is no ELF
 * file, if its tables are damaged or larger than the limits above, or if the file was cut meanwhile; then there is
 * nothing to free. */
bool elf_headers_read(int fd, const struct stat *st, struct elf_headers *headers, const char **reason);
/* Whether an ELF file ends before the end of its table of sections. Each file with debug information has such a
 * table. */
bool elf_is_cut(int fd, const struct stat *st);
void elf_headers_free(struct elf_headers *headers);
/* Returns how many bytes of a section of this type are read at most; UINT64_MAX for types without a limit. */
uint64_t elf_table_max(uint64_t type);
/* Whether most of a section is a hole in the file. Linkers leave none; with a hole a file of a few bytes can claim a
 * TiB. */
bool elf_is_hollow(int fd, uint64_t offset, uint64_t size);
/* Returns why tables of symbols, names, relocations or notes are not read (a static text): one is above its limit, or a
 * hole. NULL: all can be read. */
const char *elf_headers_excess(const struct elf_headers *headers, int fd);

/* Whether a reason is one that elf_headers_excess() returns. */
bool elf_reason_is_excess(const char *reason);

/* Get or set a field of the header or of a table's entry, which is at `entry`. */
uint64_t elf_field_get(const struct elf_headers *headers, const unsigned char *entry, enum elf_field field);
void elf_field_set(const struct elf_headers *headers, unsigned char *entry, enum elf_field field, uint64_t value);
unsigned char *elf_headers_section(const struct elf_headers *headers, size_t i);
unsigned char *elf_headers_segment(const struct elf_headers *headers, size_t i);
/* Returns the section's name, "" if it has none. */
const char *elf_headers_name(const struct elf_headers *headers, const unsigned char *section);

/* Reads `size` bytes at the offset. False if the file ends before, or cannot be read. */
bool elf_read_at(int fd, uint64_t offset, void *data, size_t size);

/* Opens the ELF file of a descriptor for libelf, which then reads what is asked for; each table is below its limit. st:
 * of the descriptor. NULL and *reason (a static text) if it is no ELF file, is damaged, or has a larger table. The
 * caller keeps the descriptor, open as long as the Elf. */
Elf *elf_open(int fd, const struct stat *st, const char **reason);

#endif
