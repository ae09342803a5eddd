/* The data that symbols/ keeps for an ELF file. Private to symbols/. */
#ifndef FT_SYMBOLS_ELF_ELF_FILE_H
#define FT_SYMBOLS_ELF_ELF_FILE_H

#include "base/hash.h"
#include "symbols/elf/elf.h"
#include "symbols/elf/elf_headers.h"
#include "symbols/elf/elf_tables.h"

#include <gelf.h>
#include <sys/stat.h>

struct errno_place;

/* The largest numbers of program headers and of dynamic entries that are read from one file. */
#define PHDRS_MAX   4096
#define DYNAMIC_MAX 4096

#define BUILD_ID_BYTES 64 /* a longer build-id is cut; usual ones have 8 to 32 bytes */
#define BUILD_ID_HEX   (2 * BUILD_ID_BYTES + 1)

/* Identifies a file and its contents: a new file at the same path has another key. */
struct elf_key {
	uint64_t device, inode, size, mtime_sec, mtime_nsec;
	/* the file was read, segment by segment, from the memory of a process; size and mtime are 0, and the file is
	 * not in the cache */
	bool from_memory;
};

struct elf_segment { /* a PT_LOAD */
	uint64_t vaddr, offset, file_size, mem_size;
	bool exec, write;
};

struct elf_file {
	struct elf_key key;
	uint16_t machine;
	unsigned char class;
	bool is_static, is_go, is_soft_float;
	char *interpreter;
	char build_id[BUILD_ID_HEX];
	uint64_t dynamic, got;
	uint64_t thread_bytes;        /* bytes for the variables of each thread: size of PT_TLS plus its alignment */
	uint64_t contexts;            /* address of the variable functrace_contexts; 0: none */
	struct elf_segment *segments; /* the PT_LOADs in the file's order, at least one */
	size_t segment_count;
	struct elf_symbol_table table;
	struct elf_functions functions;
	struct elf_call_slots slots;
	struct elf_cached cached;
	struct errno_place *errno_place; /* see errno_place.c; NULL: not read yet */
	struct signatures *signatures;   /* see signature.c, which sets signatures_free */
	void (*signatures_free)(struct signatures *signatures);
};

/* Reads an open ELF file or image. memory_bias: the number that ld.so may have added to the pointers of the dynamic
 * section (0 for a file). Returns a new elf_file with one reference, or returns NULL and sets *reason (a static text).
 * The caller keeps the Elf. */
struct elf_file *elf_file_new(Elf *elf, uint64_t memory_bias, const char **reason);
/* Frees the file (NULL is allowed), whatever its number of references. Called by the cache, and for a file that is not
 * in the cache. */
void elf_file_free(struct elf_file *file);

/* Reads the symbols of the file (elf_symbols.c). */
void elf_symbols_read(struct elf_file *file, Elf *elf, uint64_t memory_bias);
void elf_symbols_free(struct elf_file *file);
/* Writes a build-id of `size` bytes as hexadecimal digits. A size of 0 or less makes the text "". */
void elf_build_id_to_hex(const void *bits, ssize_t size, char hex[BUILD_ID_HEX]);
/* Returns true if the address is in an executable segment of the file. */
bool elf_in_exec_segment(const struct elf_file *file, uint64_t value);
/* Returns a copy of the first `length` bytes of the name, in a block of the list *blocks (NULL: empty). Adds the size
 * of a new block to *bytes. The copies live until elf_names_free() (elf_names.c). */
char *elf_name_copy(struct elf_name_block **blocks, const char *name, size_t length, size_t *bytes);
void elf_names_free(struct elf_name_block **blocks);
/* Returns a copy of the name; it lives as long as the file. */
const char *elf_keep_name(struct elf_file *file, const char *name, size_t length);
/* Unpacks the ELF file in the bytes of a .gnu_debugdata section (xz), up to a maximal size. Returns malloc'ed memory,
 * or NULL if the bytes are damaged or unpack to more. */
char *elf_debugdata_unpack(const void *data, size_t size, size_t *unpacked_size);

/* Reads the word at an address as the file contains it, before relocation. In relocations of type REL this word is the
 * addend. Returns false if the file has no word there. */
bool elf_word_in_file(Elf *elf, uint64_t address, uint64_t *word);
/* Returns true if a section contains relocations that the dynamic linker applies. */
bool elf_is_dynamic_relocation(const GElf_Shdr *header);

/* Returns the address of file offset 0 relative to the load bias, also if offset 0 is not mapped. */
uint64_t elf_file_origin(const struct elf_file *file);

/* The cache of files; any thread may use it. elf_cache_find() returns the file with a new reference, or NULL.
 * elf_cache_add() adds a file under its key. elf_file_unref() drops a reference (NULL is allowed). */
struct elf_file *elf_cache_find(const struct elf_key *key);
void elf_cache_add(struct elf_file *file);
void elf_file_ref(struct elf_file *file);
void elf_file_unref(struct elf_file *file);
/* Makes a file's key from its device, inode, size and mtime. */
void elf_key_of(const struct stat *st, struct elf_key *key);
bool elf_key_equal(const struct elf_key *a, const struct elf_key *b);

/* Returns the file of an open descriptor with a new reference; reads it if it is not in the cache. On failure returns
 * NULL and sets *reason. The caller keeps the descriptor. */
struct elf_file *elf_file_read(int fd, const struct stat *st, const char **reason);

/* In the ELF header at the start of an image, clears the fields for the section header table, because the table is not
 * mapped, and the image has other bytes at the table's offset. Does nothing if the `size` bytes of the image are no
 * complete ELF header. */
void elf_forget_sections(void *image, size_t size);
/* These read an ELF file from memory. header: address of the ELF header, in a mapping that ends at mapping_end. whole:
 * this mapping contains the whole file, as the mapping of [vdso] does. They return the file with a reference, or return
 * NULL and set *reason. */
struct elf_file *elf_file_from_memory(const struct elf_memory *memory, uint64_t header, uint64_t mapping_end,
				      bool whole, const char **reason);
struct elf_file *elf_file_from_process(pid_t pid, uint64_t header, uint64_t mapping_end, bool whole,
				       const char **reason);

#endif
