/* What the rest of the program asks of an ELF file. Its readers have elf_file.h. */
#ifndef FT_SYMBOLS_ELF_ELF_H
#define FT_SYMBOLS_ELF_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that can be read: as many bytes as there are in one piece from the address on, up to `size`, which may be
 * none, go to data. */
struct elf_memory {
	size_t (*read)(void *context, uint64_t address, void *data, size_t size);
	void *context;
};

struct elf_symbol {
	const char *name;
	uint64_t value; /* as in the file: a code address relative to the load bias */
	uint64_t size;
	bool is_ifunc;   /* value is the resolver */
	bool is_global;  /* global or weak */
	bool is_untyped; /* hand-written code, or data in the midst of it */
};

struct elf_file;

/* What can be known of the file. */
bool elf_file_is_static(const struct elf_file *file);          /* no PT_INTERP and not itself an interpreter */
const char *elf_file_interpreter(const struct elf_file *file); /* PT_INTERP's path or NULL */
const char *elf_file_build_id(const struct elf_file *file);    /* hex, "" if none */
uint64_t elf_file_dynamic(const struct elf_file *file);        /* PT_DYNAMIC's address, 0 if none */
uint64_t elf_file_got(const struct elf_file *file);            /* the global offset table's (DT_PLTGOT), 0 if none */

uint64_t elf_file_contexts(const struct elf_file *file); /* the context library's table, 0 if none */

/* The address that offset 0 of the file at `path` has, or would have, in the file's own addresses (as nm shows them): 0
 * for shared objects and position-independent programs. False, and nothing is written, when there is no regular ELF
 * file with a segment that can be read: a trace can name a terminal or a device too. */
bool elf_origin_read(const char *path, uint64_t *origin);

/* Calls back for every defined function symbol: .dynsym, .symtab and, where there is no .symtab,
 * that in .gnu_debugdata; a name at one address is given once. Stops when the callback returns false. The strings
 * live as long as the file. */
void elf_file_functions(const struct elf_file *file, bool (*callback)(void *context, const struct elf_symbol *symbol),
			void *context);
/* The same, but only those whose names are wanted, which is asked once in a file's life: many processes have the same
 * files. */
void elf_file_wanted_functions(struct elf_file *file, bool (*is_wanted)(const void *context, const char *name),
			       const void *wanted, void (*callback)(void *context, const struct elf_symbol *symbol),
			       void *context);
/* The name of a function symbol whose value that is; NULL: there is none. */
const char *elf_file_function_at(struct elf_file *file, uint64_t value);
/* The symbol of exactly this name (the default version if there are several), or false. */
bool elf_file_find(const struct elf_file *file, const char *name, struct elf_symbol *symbol);
/* Whether there is any symbol to find: a stripped static file has none. */
bool elf_file_has_symbols(const struct elf_file *file);
/* Whether the functions that are local to it can be known: it has a .symtab, or one in .gnu_debugdata, or a debug file
 * with one has been found by object_chosen_functions(). */
bool elf_file_has_locals(const struct elf_file *file);
/* Whether Go's linker made it: it has a section that only that one writes, stripped or not. */
bool elf_file_is_go(const struct elf_file *file);
/* Whether its functions take floating point arguments as integers: arch_is_soft_float() of its header. */
bool elf_file_is_soft_float(const struct elf_file *file);

#endif
