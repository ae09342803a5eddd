/* Finds functions whose names are only in an object's separate debug file. Uses libdwfl, as the code that names frames
 * does. Stores in the struct elf_file the functions that is_chosen() or is_wanted() has accepted. */
#include "config.h"
#include "symbols/names/debug_file.h"
#include "base/buf.h"
#include "base/msg.h"
#include "base/timed.h"

#include <stdlib.h>
#include <string.h>

#define SYMBOLS_MAX     (8 << 20)
#define NAME_MAX_LENGTH 65536

/* Returns true if the symbol is a function in this file's code. address: the symbol's address in the file. */
static bool debug_functions_is_function(const struct elf_file *file, const GElf_Sym *sym, GElf_Word section,
					const char *name, uint64_t address)
{
	const unsigned type = GELF_ST_TYPE(sym->st_info);

	return name[0] && strlen(name) < NAME_MAX_LENGTH && section != SHN_UNDEF && section != SHN_ABS &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC) && elf_in_exec_segment(file, address);
}

/* The symbols of a separate debug file. `names` contains their names in the same order. */
struct debug_symbols {
	struct object *object; /* a copy of the object */
	struct elf_symbol *items;
	size_t count, capacity;
	struct buf names;
	bool has_locals;
};

static void debug_symbols_free(void *context)
{
	struct debug_symbols *const symbols = context;

	object_free(symbols->object);
	free(symbols->items);
	buf_free(&symbols->names);
	free(symbols);
}

static void take_symbols(struct debug_symbols *symbols, const struct name_file *debug)
{
	const int count = dwfl_module_getsymtab(debug->module);

	for (int i = 1; i < count && i < SYMBOLS_MAX; i++) {
		GElf_Sym sym;
		GElf_Addr address;
		GElf_Word section;
		const char *name = dwfl_module_getsym_info(debug->module, i, &sym, &address, &section, NULL, NULL);

		if (!name)
			continue;
		address -= debug->module_bias;
		if (!debug_functions_is_function(symbols->object->file, &sym, section, name, address))
			continue;
		ARRAY_GROW(symbols->items, symbols->capacity, symbols->count);
		symbols->items[symbols->count++] = (struct elf_symbol){
			.value = address,
			.size = sym.st_size,
			.is_ifunc = GELF_ST_TYPE(sym.st_info) == STT_GNU_IFUNC,
			.is_global = GELF_ST_BIND(sym.st_info) != STB_LOCAL,
		};
		buf_add(&symbols->names, name, strlen(name) + 1);
		symbols->has_locals |= GELF_ST_BIND(sym.st_info) == STB_LOCAL;
	}
}

static void read_debug_file(void *context)
{
	struct debug_symbols *const symbols = context;
	struct debug_file *debug = debug_file_open(symbols->object, NULL);

	if (debug)
		take_symbols(symbols, debug->file);
	debug_file_close(debug);
}

static void keep_symbols(struct elf_file *file, struct debug_symbols *symbols)
{
	const char *name = (const char *)symbols->names.data;

	for (size_t i = 0; i < symbols->count; i++) {
		const size_t length = strlen(name);

		symbols->items[i].name = elf_keep_name(file, name, length);
		name += length + 1;
	}
	file->functions.debug_symbols = symbols->items;
	file->functions.debug_symbol_count = symbols->count;
	file->cached.bytes += symbols->capacity * sizeof(*file->functions.debug_symbols);
	symbols->items = NULL;
}

/* Reads the functions in the object's separate debug file into object->file. Prints a warning if reading takes too
 * long. */
static void find_debug_symbols(const struct object *object)
{
	struct debug_symbols *const symbols = xcalloc(1, sizeof(*symbols));

	symbols->object = object_clone(object);
	if (!timed_do(read_debug_file, debug_symbols_free, symbols)) {
		msg_warn("the debug information of %s takes too long to read: patterns of -x do not find "
			 "functions whose names are only there. Trace again when it can be read faster, "
			 "or give their addresses (-x OBJECT!0xADDRESS).",
			 object->path);
		return;
	}
	msg_debug(DBG_SYMBOLS, 1, "%s: %zu functions in its debug file", object->path, symbols->count);
	/* If no symbol is local, libdwfl has found only the symbols of the file's own .dynsym. */
	object->file->table.has_other_symtab |= symbols->has_locals;
	if (symbols->has_locals)
		keep_symbols(object->file, symbols);
	debug_symbols_free(symbols);
}

void elf_file_wanted_functions(struct elf_file *file, bool (*is_wanted)(const void *context, const char *name),
			       const void *wanted, void (*callback)(void *context, const struct elf_symbol *symbol),
			       void *context)
{
	size_t capacity = 0;

	for (size_t i = 0; !file->functions.wanted_read && i < file->table.symbol_count; i++) {
		if (!is_wanted(wanted, file->table.symbols[i].name))
			continue;
		ARRAY_GROW(file->functions.wanted, capacity, file->functions.wanted_count);
		file->functions.wanted[file->functions.wanted_count++] = &file->table.symbols[i];
	}
	file->functions.wanted_read = true;
	file->cached.bytes += capacity * sizeof(struct elf_symbol *);
	for (size_t i = 0; i < file->functions.wanted_count; i++)
		callback(context, file->functions.wanted[i]);
}

static void debug_functions_choose(struct elf_file *file, const struct elf_symbol *symbols, size_t count,
				   bool (*is_chosen)(void *context, const struct elf_symbol *symbol), void *context,
				   size_t *capacity)
{
	for (size_t i = 0; i < count; i++) {
		if (!is_chosen(context, &symbols[i]))
			continue;
		ARRAY_GROW(file->functions.chosen, *capacity, file->functions.chosen_count);
		file->functions.chosen[file->functions.chosen_count++] = &symbols[i];
	}
}

void object_chosen_functions(const struct object *object,
			     bool (*is_chosen)(void *context, const struct elf_symbol *symbol),
			     void (*callback)(void *context, const struct elf_symbol *symbol), void *context)
{
	struct elf_file *file = object->file;
	size_t capacity = 0;

	if (!file->functions.chosen_read) {
		file->functions.chosen_read = true;
		if (!file->table.has_symtab)
			find_debug_symbols(object);
		debug_functions_choose(file, file->table.symbols, file->table.symbol_count, is_chosen, context,
				       &capacity);
		debug_functions_choose(file, file->functions.debug_symbols, file->functions.debug_symbol_count,
				       is_chosen, context, &capacity);
		file->cached.bytes += capacity * sizeof(struct elf_symbol *);
	}
	for (size_t i = 0; i < file->functions.chosen_count; i++)
		callback(context, file->functions.chosen[i]);
}
