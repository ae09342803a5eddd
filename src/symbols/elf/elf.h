/* The interface of ELF files for code outside symbols/. Code that reads such files includes elf_file.h. */
#ifndef FT_SYMBOLS_ELF_ELF_H
#define FT_SYMBOLS_ELF_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A source of memory. `read` copies up to `size` bytes from the address on, and stops at the first byte that cannot be
 * read. It returns the number of copied bytes, perhaps 0. */
struct elf_memory {
	size_t (*read)(void *context, uint64_t address, void *data, size_t size);
	void *context;
};

struct elf_symbol {
	const char *name;
	uint64_t value; /* value as in the file: for code, an address relative to the load bias */
	uint64_t size;
	bool is_ifunc;   /* the value is the address of the resolver */
	bool is_global;  /* its binding is global or weak */
	bool is_untyped; /* its type is STT_NOTYPE: hand-written code, or data within such code */
};

struct elf_file;

/* The next functions, up to elf_file_contexts(), return properties of the file. */
/* Returns true for a program without PT_INTERP, but false for ld.so, which has no PT_INTERP either. */
bool elf_file_is_static(const struct elf_file *file);
const char *elf_file_interpreter(const struct elf_file *file); /* path in PT_INTERP, or NULL */
const char *elf_file_build_id(const struct elf_file *file);    /* hexadecimal, "" if none */
uint64_t elf_file_dynamic(const struct elf_file *file);        /* address of PT_DYNAMIC, 0 if none */
uint64_t elf_file_got(const struct elf_file *file); /* address of the global offset table (DT_PLTGOT), 0 if none */

uint64_t elf_file_contexts(const struct elf_file *file); /* address of the context library's table, 0 if none */

/* Finds the address of file offset 0 by the file's own addresses (p_vaddr, as nm prints them), even if no segment
 * contains this offset. The address is normally 0 for shared objects and position-independent programs. Returns false
 * and leaves *origin unchanged if the file is not a regular ELF file with a loadable segment; a path from a trace may
 * name a terminal or a device. */
bool elf_origin_read(const char *path, uint64_t *origin);

/* Calls `callback` for each defined function symbol in .dynsym and .symtab. If there is no .symtab, the .symtab in
 * .gnu_debugdata is used. A name that occurs twice at one address is passed once. Stops when the callback returns
 * false. The strings live as long as the file. */
void elf_file_functions(const struct elf_file *file, bool (*callback)(void *context, const struct elf_symbol *symbol),
			void *context);
/* Like elf_file_functions(), but only for symbols whose names is_wanted() accepts. is_wanted() is called once for each
 * symbol, and its answers are kept, because many processes map the same file. */
void elf_file_wanted_functions(struct elf_file *file, bool (*is_wanted)(const void *context, const char *name),
			       const void *wanted, void (*callback)(void *context, const struct elf_symbol *symbol),
			       void *context);
/* Returns the name of a function symbol with this value, or NULL. */
const char *elf_file_function_at(struct elf_file *file, uint64_t value);
/* Finds the function symbol with exactly this name (if there are several versions, the default one). Returns false if
 * the file has no such symbol. */
bool elf_file_find(const struct elf_file *file, const char *name, struct elf_symbol *symbol);
/* Returns true if the file has a function symbol; a stripped static file has none. */
bool elf_file_has_symbols(const struct elf_file *file);
/* Returns true if local functions of the file can be found: the file has a .symtab, or one in .gnu_debugdata, or
 * object_chosen_functions() has found a separate debug file with one. */
bool elf_file_has_locals(const struct elf_file *file);
/* Returns true if Go's linker made the file: it has a section that only this linker writes, and that strip(1) keeps. */
bool elf_file_is_go(const struct elf_file *file);
/* Returns true if the file's functions take floating point arguments as integers: the result of arch_is_soft_float()
 * for the file's header. */
bool elf_file_is_soft_float(const struct elf_file *file);

#endif
