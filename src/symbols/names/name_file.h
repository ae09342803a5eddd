/* A file from which names are read: its strings, symbols and DWARF. Private to symbols/. */
#ifndef FT_SYMBOLS_NAMES_NAME_FILE_H
#define FT_SYMBOLS_NAMES_NAME_FILE_H

#include "base/hash.h"
#include "symbols/elf/elf_file.h"
#include "symbols/names/names.h"
#include "symbols/elf/private_copy.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#define LANG_C17 0x2c /* DW_LANG_C17, which Debian 12's dwarf.h lacks */

/* ---- Strings, each kept once ---- */

struct string_pool {
	struct hash by_hash;
	struct elf_name_block *blocks;
};
/* Returns the pool's copy of a string; it lives as long as the pool. */
const char *string_keep(struct string_pool *pool, const char *string);
void string_pool_free(struct string_pool *pool);

/* ---- Symbols by address: name_symbols.c ---- */

struct named_symbol {
	uint64_t start, size;
	bool is_open;     /* without a size: the symbol extends to the next symbol or to the end of its section */
	bool is_local;    /* a local symbol: other files cannot refer to it */
	const char *name; /* mangled; owned by the Dwfl_Module */
	unsigned rank;
};

struct symbol_table {
	struct named_symbol *items; /* symbols by ascending start; only the best one of each start */
	size_t count, capacity;
};

/* Fills an empty table with the symbols of code in a Dwfl_Module. */
void symbol_table_read(struct symbol_table *table, Dwfl_Module *module);
/* Returns the symbol that contains an address of the Dwfl_Module, or NULL. */
const struct named_symbol *symbol_table_find(const struct symbol_table *table, uint64_t address);

/* ---- DWARF by address: name_dwarf.c ---- */

struct dwarf_index;

/* Makes an index of a file's debug information; returns NULL if dwarf is NULL. .dwo files may also be in the folder of
 * `path`. */
struct dwarf_index *dwarf_index_new(Dwarf *dwarf, Dwarf_Addr bias, const char *path);
void dwarf_index_free(struct dwarf_index *index);

/* A frame at an address: the function itself, or a function that is inlined there. */
struct dwarf_frame {
	const char *function;      /* its name, mangled if is_linkage; NULL: unknown; owned by the Dwarf */
	bool is_linkage;           /* `function` is the symbol's name, or the language does not mangle names */
	const char *file, *folder; /* source file, relative to the folder; NULL: unknown; both are owned by the Dwarf */
	unsigned line;
};
/* Finds the frames at an address, the innermost first. Returns their number; 0 if no unit contains the address. */
#define DWARF_FRAMES_MAX 128
size_t dwarf_index_find(struct dwarf_index *index, uint64_t address, struct dwarf_frame frames[DWARF_FRAMES_MAX]);

struct dwarf_function {
	/* DIE of this copy of the function; its DW_AT_abstract_origin has the attributes that all copies share */
	Dwarf_Die die;
	Dwarf_Addr entry; /* address of the entry in the DWARF, without the index's bias */
	int language;     /* DW_LANG_...; -1: unknown */
	bool has_types;   /* its unit describes types; a unit that was compiled with -g1 does not */
};
/* Finds the function that begins at this address of the Dwfl_Module. Returns false if no function begins there. */
bool dwarf_index_function(struct dwarf_index *index, uint64_t address, struct dwarf_function *function);

/* ---- The file: name_file.c ---- */

struct name_lines {
	size_t count;
	struct frame_name items[];
};

struct code_segment { /* an executable PT_LOAD, with addresses as in the file */
	uint64_t start, end;
	uint64_t offset; /* file offset of `start` */
};

struct name_file {
	struct elf_key key;
	int64_t changed_sec, changed_nsec; /* ctime of the file */
	unsigned references;               /* number of objects that use this file */
	uint64_t last_used;
	char *open_path;
	Dwfl *dwfl;
	Dwfl_Module *module;
	uint64_t module_bias;
	const char *target_path; /* path as in the trace; debug links are relative to its folder */
	bool asks_servers;
	const char *folders;           /* folders of separate debug files; owned by the caller */
	char *debug_path;              /* path of the separate debug file; NULL: none */
	struct copied_altlink alts[2]; /* links to dwz's files: of the file itself, and of its debug file */
	Dwarf *alt; /* dwz's file (private_copy.h) that is in use, and its descriptor; NULL and -1: none */
	int alt_fd;
	const char *lacking; /* why the debug information is not read, a static text; NULL if it is read */
	char build_id[BUILD_ID_HEX];
	uint64_t origin; /* address of file offset 0, as in the file */
	struct code_segment *code;
	size_t code_count, code_capacity;
	uint16_t machine;
	bool is_indexed;
	struct symbol_table symbols;
	struct dwarf_index *dwarf;
	struct hash lines; /* address -> name_lines */
	struct string_pool strings;
};

/* Returns the folders with separate debug files, ':' separated; the caller frees the string. */
char *name_file_debug_path(const struct names_options *options);
/* Copies an open ELF file into memory; the caller keeps the descriptor. The separate debug file is read when it is
 * first needed. folders: the folders of debug files; the string must outlive the struct. Returns NULL and sets *reason
 * (a static text) if the file cannot be used. */
struct name_file *name_file_new(int fd, const struct stat *st, const char *open_path, const char *target_path,
				bool asks_servers, const char *folders, const char **reason);
/* Makes an index of the debug information in the file or in its separate debug file; the caller frees the index.
 * Returns NULL if there is none. */
struct dwarf_index *name_file_dwarf(struct name_file *file);
void name_file_free(struct name_file *file);
/* Returns the lines for an address of the file. The result is valid until the next call, which may free it, or until
 * the file is freed. Never returns NULL; the count can be 0. */
const struct name_lines *name_file_lookup(struct name_file *file, uint64_t address);

/* ---- The place of a trace's range in the file: object_range.c ---- */

enum name_place {
	NAME_PLACE_FOUND,
	NAME_PLACE_SEVERAL, /* several places are possible */
	/* no place is possible: the file is larger than the range, and has no executable segment of this size */
	NAME_PLACE_NONE,
};

/* Finds which part of the file was mapped at an object's range in a trace, by the range's size. *start: the part's
 * address in the file, which is that of file offset 0, or that of the page in which an executable segment begins. */
enum name_place name_file_place(const struct name_file *file, uint64_t size, uint64_t *start);

#endif
