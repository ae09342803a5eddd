/* What names.c keeps of a file that it takes names from; no other file looks inside. */
#ifndef FT_SYMBOLS_NAMES_NAME_FILE_H
#define FT_SYMBOLS_NAMES_NAME_FILE_H

#include "base/hash.h"
#include "symbols/elf/elf_file.h"
#include "symbols/names/names.h"
#include "symbols/elf/private_copy.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

/* ---- Strings, each kept once ---- */

struct string_pool {
	struct hash by_hash;
	struct string_block *blocks;
};
/* The pool's copy of a string, which lives as long as the pool. */
const char *string_keep(struct string_pool *pool, const char *string);
void string_pool_free(struct string_pool *pool);

/* ---- Symbols by address: name_symbols.c ---- */

struct named_symbol {
	uint64_t start, size;
	bool is_open;     /* has no size of its own: to the end of its section, or the next symbol */
	bool is_local;    /* no other file can call it by its name */
	const char *name; /* mangled; the module's */
	unsigned rank;
};

struct symbol_table {
	struct named_symbol *items; /* by ascending start, the best of a start only */
	size_t count, capacity;
};

/* Fills an empty table with the symbols of the module that name code. */
void symbol_table_read(struct symbol_table *table, Dwfl_Module *module);
/* The symbol that an address of the module is in, or NULL. */
const struct named_symbol *symbol_table_find(const struct symbol_table *table, uint64_t address);

/* ---- DWARF by address: name_dwarf.c ---- */

struct dwarf_index;

/* An index of a file's debug information; NULL for NULL. Beside that path .dwo files are looked for, too. */
struct dwarf_index *dwarf_index_new(Dwarf *dwarf, Dwarf_Addr bias, const char *path);
void dwarf_index_free(struct dwarf_index *index);

/* One line of an answer. */
struct dwarf_frame {
	const char *function;      /* mangled if `is_linkage`; NULL unknown; the Dwarf's */
	bool is_linkage;           /* the symbol's name, or a name of a language without mangling */
	uint64_t entry;            /* where the function begins, 0 unknown */
	const char *file, *folder; /* file relative to the folder; NULL unknown; the Dwarf's */
	unsigned line;
};
/* The frames at an address, innermost first; 0 if nothing is known there. */
#define DWARF_FRAMES_MAX 128
size_t dwarf_index_find(struct dwarf_index *index, uint64_t address, struct dwarf_frame frames[DWARF_FRAMES_MAX]);

struct dwarf_function {
	Dwarf_Die die;    /* of the code itself: what is said of all copies of the function stands in its origin */
	Dwarf_Addr entry; /* as libdw has it */
	int language;     /* DW_LANG_; -1 unknown */
	bool has_types;   /* its unit describes types: with -g1 it does not */
};
/* The function that begins at that address of the module; false: none does. */
bool dwarf_index_function(struct dwarf_index *index, uint64_t address, struct dwarf_function *function);

/* ---- The file: name_file.c ---- */

struct name_lines {
	size_t count;
	struct frame_name items[];
};

struct code_segment { /* an executable PT_LOAD: addresses as in the file */
	uint64_t start, end;
	uint64_t offset; /* of the start in the file */
};

struct name_file {
	struct elf_key key;
	int64_t changed_sec, changed_nsec; /* ctime */
	unsigned references;               /* objects */
	uint64_t last_used;
	char *open_path;
	Dwfl *dwfl;
	Dwfl_Module *module;
	uint64_t module_bias;
	const char *target_path; /* as in the trace; where debuglinks begin */
	bool asks_servers;
	const char *folders;           /* of separate debug files; the caller's */
	char *debug_path;              /* of the separate debug file; NULL none */
	struct copied_altlink alts[2]; /* dwz's files, of the file itself and of its debug file */
	Dwarf *alt;                    /* the one that is used, NULL none, and its descriptor */
	int alt_fd;
	const char *lacking; /* why its debug information is not read, a static text; NULL: it is */
	char build_id[2 * BUILD_ID_BYTES + 1];
	uint64_t origin; /* the address of file offset 0 as in the file */
	struct code_segment *code;
	size_t code_count, code_capacity;
	uint16_t machine;
	bool is_indexed;
	struct symbol_table symbols;
	struct dwarf_index *dwarf;
	struct hash lines; /* address -> name_lines */
	struct string_pool strings;
};

/* The folders with separate debug files, ':' separated; the caller frees it. */
char *name_file_debug_path(const struct names_options *options);
/* Reads an open ELF file, which stays the caller's, into memory, and its separate debug file when that is first needed;
 * folders: where that may be, which the caller keeps. NULL and *reason (a static text): it gives nothing. */
struct name_file *name_file_new(int fd, const struct stat *st, const char *open_path, const char *target_path,
				bool asks_servers, const char *folders, const char **reason);
/* An index of its debug information, the file's own or its separate debug file's; NULL: there is none. */
struct dwarf_index *name_file_dwarf(struct name_file *file);
void name_file_free(struct name_file *file);
/* The lines for an address as in the file, from memory if it was asked for before. Lives as long as
 * the file or until a later call. Never NULL; count can be 0. */
const struct name_lines *name_file_lookup(struct name_file *file, uint64_t address);

/* ---- Where a trace's range lies in the file: name_place.c ---- */

enum name_place {
	NAME_PLACE_FOUND,
	NAME_PLACE_SEVERAL, /* there are several answers */
	NAME_PLACE_NONE,    /* the file is too large for the range, and has no such segment */
};

/* Finds the address as in the file that a range of `size` bytes begins at: that of the file's
 * offset 0, or an executable segment's. */
enum name_place name_file_place(const struct name_file *file, uint64_t size, uint64_t *start);

#endif
