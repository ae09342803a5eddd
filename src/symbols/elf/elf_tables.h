/* The parts of struct elf_file: symbols, chosen functions, slots of the global offset table, place in the cache. */
#ifndef FT_SYMBOLS_ELF_ELF_TABLES_H
#define FT_SYMBOLS_ELF_ELF_TABLES_H

#include "base/hash.h"
#include "symbols/elf/elf.h"

struct elf_name_block; /* a block of memory for names */
struct elf_file;

/* The symbols of a file. */
struct elf_symbol_table {
	struct elf_symbol *symbols;
	/* rank of each symbol; of several symbols with one name, elf_file_find() returns the one with the highest
	 * rank */
	unsigned char *ranks;
	size_t symbol_count, symbol_capacity, rank_capacity;
	struct elf_name_block *names;
	struct hash by_name;  /* hash of a name -> index of the symbol that elf_file_find() returns */
	struct hash by_value; /* a symbol's value -> its name, for elf_file_function_at() */
	bool by_value_read;
	bool has_symtab;
	bool has_other_symtab; /* .gnu_debugdata or the separate debug file contains a .symtab */
};

/* The functions of a file that are chosen by names, and the symbols of its separate debug file (debug_functions.c). */
struct elf_functions {
	struct elf_symbol *debug_symbols; /* symbols of the separate debug file */
	size_t debug_symbol_count;
	/* elements of `symbols` and `debug_symbols`, chosen for object_chosen_functions() */
	const struct elf_symbol **chosen;
	size_t chosen_count;
	bool chosen_read;
	/* elements of `symbols`, chosen for elf_file_wanted_functions() */
	const struct elf_symbol **wanted;
	size_t wanted_count;
	bool wanted_read;
};

struct call_slot {
	const char *name;
	uint64_t address; /* address as in the file */
};

/* The entries of a file's global offset table (got_slots.c). */
struct elf_call_slots {
	struct call_slot *call_slots; /* GOT entries with the addresses of called functions */
	size_t call_slot_count;
	bool call_slots_read;
};

/* A file's place in the cache (elf_cache.c). */
struct elf_cached {
	size_t bytes; /* approximate size of the memory for this data, in bytes */
	unsigned references;
	struct elf_file *newer, *older; /* neighbours in the cache's list of unused files */
};

#endif
