/* The headers of an ELF file as they are in the file, read without a library, so that their claims can be checked
 * before a library allocates or reads what they claim. */
#ifndef FT_SYMBOLS_ELF_ELF_HEADERS_H
#define FT_SYMBOLS_ELF_ELF_HEADERS_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define ELF_SECTIONS_MAX    65279        /* the ELF header's own count ends there */
#define ELF_SEGMENTS_MAX    4096         /* program headers */
#define ELF_NAMES_MAX       (16u << 20)  /* bytes of the sections' names */
#define ELF_NOTE_MAX        (1u << 20)   /* bytes of one segment or section of notes */
#define ELF_SYMBOLS_MAX     (192u << 20) /* bytes of a table of symbols: 8 million of 64 bits */
#define ELF_STRINGS_MAX     (512u << 20) /* bytes of a table of names */
#define ELF_RELOCATIONS_MAX (256u << 20) /* bytes of a section of relocations */

/* Compared by its address: a file with this reason is simply no object. */
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
	CHDR_SIZE, /* of the header of a packed section */
};

struct elf_headers {
	bool is64, swap; /* swap: of the other byte order */
	unsigned char ehdr[64];
	size_t ehdr_size;
	unsigned char *segments, *sections; /* the tables; NULL: none */
	size_t segment_count, segment_size; /* _size: of an entry */
	size_t section_count, section_size;
	char *names;       /* of the sections, with a NUL behind; NULL: none */
	size_t names_size; /* without that NUL */
};

/* Reads the headers of the regular file `fd`, as st describes it. False and *reason (a static text): it is no ELF file,
 * its tables are damaged or larger than the limits above, or it was cut while it was read; nothing is to be freed. */
bool elf_headers_read(int fd, const struct stat *st, struct elf_headers *headers, const char **reason);
/* Whether an ELF file ends before its table of sections does: debug information has one. */
bool elf_is_cut(int fd, const struct stat *st);
void elf_headers_free(struct elf_headers *headers);
/* How many bytes of a section of that type are read; UINT64_MAX for types that have no limit of their own. */
uint64_t elf_table_max(uint64_t type);
/* Whether most of a section is a hole in the file, as no linker leaves one: a few bytes that claim to be a TiB. */
bool elf_is_hollow(int fd, uint64_t offset, uint64_t size);
/* Why tables of symbols, names, relocations or notes are not read: one is larger than its limit, or a hole (a static
 * text). NULL: none is. */
const char *elf_headers_excess(const struct elf_headers *headers, int fd);

/* Whether that is what a reason says. */
bool elf_reason_is_excess(const char *reason);

/* A field of the header or of a table's entry, at `entry`; and its new value. */
uint64_t elf_field_get(const struct elf_headers *headers, const unsigned char *entry, enum elf_field field);
void elf_field_set(const struct elf_headers *headers, unsigned char *entry, enum elf_field field, uint64_t value);
unsigned char *elf_headers_section(const struct elf_headers *headers, size_t i);
unsigned char *elf_headers_segment(const struct elf_headers *headers, size_t i);
/* "": it has no name. */
const char *elf_headers_name(const struct elf_headers *headers, const unsigned char *section);

/* Reads size bytes at the offset; false: the file ends before, or cannot be read. */
bool elf_read_at(int fd, uint64_t offset, void *data, size_t size);

/* Opens the ELF file of a descriptor, of which st has been read, for libelf to read what is asked for: at no time more
 * than tables of bounded size. NULL and *reason (a static text): it is none, it is damaged, or a table is larger. The
 * descriptor stays the caller's, and open as long as the Elf. */
Elf *elf_open(int fd, const struct stat *st, const char **reason);

#endif
