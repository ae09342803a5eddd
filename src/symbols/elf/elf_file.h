/* The data that symbols/ keeps of an ELF file. Private to symbols/. */
#ifndef FT_SYMBOLS_ELF_ELF_FILE_H
#define FT_SYMBOLS_ELF_ELF_FILE_H

#include "base/hash.h"
#include "symbols/elf/elf.h"
#include "symbols/elf/elf_headers.h"

#include <gelf.h>
#include <sys/stat.h>

struct errno_place;

/* The most program headers and dynamic entries that are read of one file. */
#define PHDRS_MAX   4096
#define DYNAMIC_MAX 4096

#define BUILD_ID_BYTES 64 /* longer build-ids are cut; the usual ones have 8 to 32 bytes */

/* Identifies a file, also after its path got a new content. */
struct elf_key {
	uint64_t device, inode, size, mtime_sec, mtime_nsec;
	bool from_memory; /* read from one process's memory: size and mtime are 0, and no other process shares it */
};

struct elf_segment { /* a PT_LOAD */
	uint64_t vaddr, offset, file_size, mem_size;
	bool exec, write;
};

struct elf_name_block; /* a piece of the names' memory */

struct elf_file {
	struct elf_key key;
	uint16_t machine;
	unsigned char class;
	bool is_static, is_go, is_soft_float;
	char *interpreter;
	char build_id[2 * BUILD_ID_BYTES + 1];
	uint64_t dynamic, got;
	uint64_t thread_bytes;        /* bytes of the variables that each thread has (PT_TLS), and of their alignment */
	uint64_t contexts;            /* address of the variable functrace_contexts, 0 none */
	struct elf_segment *segments; /* the PT_LOADs in the file's order, at least one */
	size_t segment_count;

	struct elf_symbol *symbols;
	unsigned char *ranks; /* for each symbol; of several with one name the highest is found */
	size_t symbol_count, symbol_capacity, rank_capacity;
	struct elf_name_block *names;
	struct hash by_name;  /* hash of the name -> index of the symbol that is found */
	struct hash by_value; /* value -> name: elf_file_function_at() */
	bool by_value_read;
	bool has_symtab;
	bool has_other_symtab;            /* it has one in .gnu_debugdata or in a separate debug file */
	struct elf_symbol *debug_symbols; /* of the separate debug file: debug_functions.c */
	size_t debug_symbol_count;
	const struct elf_symbol **chosen; /* of both, those for object_chosen_functions(): debug_functions.c */
	size_t chosen_count;
	bool chosen_read;
	const struct elf_symbol **wanted; /* of `symbols`, those for elf_file_wanted_functions(): debug_functions.c */
	size_t wanted_count;
	bool wanted_read;
	struct call_slot *call_slots; /* got_slots.c */
	size_t call_slot_count;
	bool call_slots_read;
	struct errno_place *errno_place; /* errno_place.c; NULL: not read */
	struct signatures *signatures;   /* signature.c, which sets signatures_free */
	void (*signatures_free)(struct signatures *signatures);
	size_t bytes; /* of memory that the file holds, about */

	unsigned references;
	struct elf_file *newer, *older; /* in the cache's list of unused files */
};

/* Reads an open ELF file or image. memory_bias: what ld.so may have added to the pointers of the dynamic section (0 for
 * a file). Returns a new elf_file with one reference, or NULL and *reason (a static text). The caller keeps the Elf. */
struct elf_file *elf_file_new(Elf *elf, uint64_t memory_bias, const char **reason);
/* Frees the file (NULL is allowed) whatever its references: for the cache, and for a file that is not in it. */
void elf_file_free(struct elf_file *file);

/* Reads the symbols of the file (elf_symbols.c). */
void elf_symbols_read(struct elf_file *file, Elf *elf, uint64_t memory_bias);
void elf_symbols_free(struct elf_file *file);
/* Whether the address is in an executable segment of the file. */
bool elf_in_exec_segment(const struct elf_file *file, uint64_t value);
/* Returns a copy of the name that lives as long as the file. */
const char *elf_keep_name(struct elf_file *file, const char *name, size_t length);
/* Unpacks the ELF file in the bytes of a .gnu_debugdata section (xz), up to a bounded size. Returns malloc'ed memory;
 * NULL if the bytes are damaged or unpack to more. */
char *elf_debugdata_unpack(const void *data, size_t size, size_t *unpacked_size);

/* Reads the word that the file has at an address, before it is relocated: the addend of relocations without one (REL).
 * False if the file has no word there. */
bool elf_word_in_file(Elf *elf, uint64_t address, uint64_t *word);
/* Whether a section has relocations that the dynamic linker applies. */
bool elf_is_dynamic_relocation(const GElf_Shdr *header);

/* Returns the address that file offset 0 has, or would have, relative to the load bias. */
uint64_t elf_file_origin(const struct elf_file *file);

/* The cache, which any thread may use. elf_cache_find() returns the file with a new reference, or NULL. elf_cache_add()
 * adds a file under its key. elf_file_unref() drops a reference (NULL is allowed). */
struct elf_file *elf_cache_find(const struct elf_key *key);
void elf_cache_add(struct elf_file *file);
void elf_file_ref(struct elf_file *file);
void elf_file_unref(struct elf_file *file);
/* Makes the key of a file from its device, inode, size and times. */
void elf_key_of(const struct stat *st, struct elf_key *key);
bool elf_key_equal(const struct elf_key *a, const struct elf_key *b);

/* Returns the file of an open descriptor, from the cache or read at once, with a new reference; or NULL and *reason.
 * The caller keeps the descriptor. */
struct elf_file *elf_file_read(int fd, const struct stat *st, const char **reason);

/* Read an ELF file from memory. header: address of its header, in a mapping that ends at mapping_end. whole: this
 * mapping contains the whole file, as that of [vdso] does. Return the file with a reference, or NULL and *reason. */
struct elf_file *elf_file_from_memory(const struct elf_memory *memory, uint64_t header, uint64_t mapping_end,
				      bool whole, const char **reason);
struct elf_file *elf_file_from_process(pid_t pid, uint64_t header, uint64_t mapping_end, bool whole,
				       const char **reason);

#endif
