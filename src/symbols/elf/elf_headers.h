/* Reads the headers of an ELF file and checks the sizes in them, before libelf or libdw allocates or reads as many
 * bytes as the headers say. */
#ifndef FT_SYMBOLS_ELF_ELF_HEADERS_H
#define FT_SYMBOLS_ELF_ELF_HEADERS_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define ELF_SECTIONS_MAX    65279        /* sections: the largest valid value of e_shnum */
#define ELF_SEGMENTS_MAX    4096         /* program headers */
#define ELF_NAMES_MAX       (16u << 20)  /* bytes of the table of section names */
#define ELF_NOTE_MAX        (1u << 20)   /* bytes of one segment or section of notes */
#define ELF_SYMBOLS_MAX     (192u << 20) /* bytes of a symbol table: 8 million symbols in a 64-bit file */
#define ELF_STRINGS_MAX     (512u << 20) /* bytes of a string table */
#define ELF_RELOCATIONS_MAX (256u << 20) /* bytes of a relocation section */

/* The text to which *reason points if a file is not an ELF file. Callers compare the pointers. */
extern const char elf_reason_no_elf[];

/* Fields of the ELF header, of a program header and of a section header. */
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
	CHDR_SIZE, /* field of the header of a compressed section */
};

struct elf_headers {
	bool is64, swap; /* swap: the file's byte order is not that of this machine */
	unsigned char ehdr[64];
	size_t ehdr_size;
	unsigned char *segments, *sections; /* the tables of program headers and section headers; NULL: none */
	size_t segment_count, segment_size; /* number of entries, and bytes of an entry */
	size_t section_count, section_size;
	char *names;       /* section names, with a NUL after them; NULL: none */
	size_t names_size; /* bytes without that NUL */
};

/* Reads the headers of the regular file `fd`; st: its status. Returns false and sets *reason (a static text) if it is
 * no ELF file, if its headers, section names or segments of notes are damaged or larger than the limits above, or if
 * the file was truncated meanwhile. Then nothing has to be freed. */
bool elf_headers_read(int fd, const struct stat *st, struct elf_headers *headers, const char **reason);
/* Returns true if an ELF file ends before the end of its section header table. Each file with debug information has
 * such a table. */
bool elf_is_cut(int fd, const struct stat *st);
void elf_headers_free(struct elf_headers *headers);
/* Returns the largest size, in bytes, of a section of this type that is read; UINT64_MAX for types without a limit. */
uint64_t elf_table_max(uint64_t type);
/* Returns true if most of a section is a hole in the file. Linkers leave no holes; with a hole, a file of a few bytes
 * can claim a size of a TiB. */
bool elf_is_hollow(int fd, uint64_t offset, uint64_t size);
/* Returns why the tables of symbols, names, relocations or notes cannot be read (a static text): one of them is larger
 * than its limit, or mostly a hole. Returns NULL if all can be read. */
const char *elf_headers_excess(const struct elf_headers *headers, int fd);

/* Returns true if a reason is one of those that elf_headers_excess() returns. */
bool elf_reason_is_excess(const char *reason);

/* These get or set a field of the ELF header or of a table's entry; `entry` points to the header or the entry. */
uint64_t elf_field_get(const struct elf_headers *headers, const unsigned char *entry, enum elf_field field);
void elf_field_set(const struct elf_headers *headers, unsigned char *entry, enum elf_field field, uint64_t value);
unsigned char *elf_headers_section(const struct elf_headers *headers, size_t i);
unsigned char *elf_headers_segment(const struct elf_headers *headers, size_t i);
/* Returns the section's name; "" if it has none. */
const char *elf_headers_name(const struct elf_headers *headers, const unsigned char *section);

/* Returns true if the file contains `size` bytes at a file offset; st: the file's status. offset + size may exceed 64
 * bits. */
bool elf_is_in_file(const struct stat *st, uint64_t offset, uint64_t size);
/* Reads `size` bytes at a file offset. Returns false if the file ends earlier, or cannot be read. */
bool elf_read_at(int fd, uint64_t offset, void *data, size_t size);

/* Checks that no table of the ELF file is larger than its limit, then opens the file with libelf. st: status of the
 * descriptor. Returns NULL and sets *reason (a static text) if it is no ELF file, is damaged, or has too large a table.
 * The caller keeps the descriptor, and closes it after elf_end(). */
Elf *elf_open(int fd, const struct stat *st, const char **reason);

#endif
