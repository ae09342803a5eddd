/* An ELF file, as other rooms use it. Code that reads the file includes elf_file.h. */
#ifndef FT_SYMBOLS_ELF_ELF_H
#define FT_SYMBOLS_ELF_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that can be read. `read` copies the bytes from the address on, up to the first that is missing and at most
 * `size`, and returns how many there are, perhaps 0. */
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
	bool is_untyped; /* without a type: hand-written code, or data within such code */
};

struct elf_file;

/* Properties of the file. */
bool elf_file_is_static(const struct elf_file *file); /* it has no PT_INTERP and is not itself an interpreter */
const char *elf_file_interpreter(const struct elf_file *file); /* PT_INTERP's path or NULL */
const char *elf_file_build_id(const struct elf_file *file);    /* hex, "" if none */
uint64_t elf_file_dynamic(const struct elf_file *file);        /* PT_DYNAMIC's address, 0 if none */
uint64_t elf_file_got(const struct elf_file *file); /* the global offset table's address (DT_PLTGOT), 0 if none */

uint64_t elf_file_contexts(const struct elf_file *file); /* address of the context library's table, 0 if none */

/* Reads the address that offset 0 of the file at `path` has, or would have, in the file's own addresses (as nm shows
 * them): 0 for shared objects and position-independent programs. False, and *origin is unchanged, if the file is not a
 * regular ELF file with a loadable segment: a trace may name a terminal or a device. */
bool elf_origin_read(const char *path, uint64_t *origin);

/* Calls back for each defined function symbol: of .dynsym, and of .symtab or, if there is none, of the .symtab in
 * .gnu_debugdata; once for a name at one address. Stops when the callback returns false. The strings live as long as
 * the file. */
void elf_file_functions(const struct elf_file *file, bool (*callback)(void *context, const struct elf_symbol *symbol),
			void *context);
/* The same for symbols whose names are wanted. is_wanted() is asked about a symbol once in the life of the file,
 * because many processes have the same files. */
void elf_file_wanted_functions(struct elf_file *file, bool (*is_wanted)(const void *context, const char *name),
			       const void *wanted, void (*callback)(void *context, const struct elf_symbol *symbol),
			       void *context);
/* Returns the name of a function symbol with this value, or NULL. */
const char *elf_file_function_at(struct elf_file *file, uint64_t value);
/* Finds the symbol of exactly this name (the default version if there are several). False if there is none. */
bool elf_file_find(const struct elf_file *file, const char *name, struct elf_symbol *symbol);
/* Whether the file has any function symbol: a stripped static file has none. */
bool elf_file_has_symbols(const struct elf_file *file);
/* Whether local functions of the file can be found: it has a .symtab, or one in .gnu_debugdata, or
 * object_chosen_functions() has found a debug file with one. */
bool elf_file_has_locals(const struct elf_file *file);
/* Whether Go's linker made the file: it has a section that only this linker writes, which stripping keeps. */
bool elf_file_is_go(const struct elf_file *file);
/* Whether its functions take floating point arguments as integers: arch_is_soft_float() of its header. */
bool elf_file_is_soft_float(const struct elf_file *file);

#endif
