#include "config.h"
#include "symbols/names/data_names.h"
#include "symbols/names/debug_file.h"
#include "symbols/elf/elf_file.h"
#include "symbols/names/names.h"
#include "proc/proc.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>

#define SYMBOLS_MAX     (8 << 20)
#define NAME_LENGTH_MAX 65536

struct data_symbol {
	uint64_t start, size; /* start in the file's addresses, size in bytes */
	const char *name;     /* name in the file, mangled; owned by libdwfl */
	char *shown;          /* demangled name; NULL: not needed yet */
	bool is_function;
};

struct object_symbols {
	const struct object *object;
	struct debug_file *debug; /* owner of the names' memory */
	struct data_symbol *items;
	size_t count, capacity;
	bool is_read;
};

struct data_names {
	struct object_list objects;
	const char *sysroot;
	struct object_symbols *symbols; /* an array, one element for each object */
};

static void add_symbols(struct data_names *names)
{
	names->symbols = xcalloc(names->objects.count + 1, sizeof(*names->symbols));
	for (size_t i = 0; i < names->objects.count; i++)
		names->symbols[i].object = names->objects.items[i];
}

struct data_names *data_names_new(pid_t pid)
{
	struct data_names *names = xcalloc(1, sizeof(*names));
	const pid_t live = proc_live_thread(pid);

	objects_update(&names->objects, live ? live : pid, NULL, NULL, NULL);
	add_symbols(names);
	return names;
}

struct data_names *data_names_of_image(const struct objects_image *image)
{
	struct data_names *names = xcalloc(1, sizeof(*names));

	names->sysroot = image->sysroot;
	objects_of_image(&names->objects, image);
	add_symbols(names);
	return names;
}

void data_names_free(struct data_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->objects.count; i++) {
		struct object_symbols *symbols = &names->symbols[i];

		for (size_t k = 0; k < symbols->count; k++)
			free(symbols->items[k].shown);
		free(symbols->items);
		debug_file_close(symbols->debug);
	}
	free(names->symbols);
	objects_free(&names->objects);
	free(names);
}

bool data_names_have_go(const struct data_names *names)
{
	for (size_t i = 0; i < names->objects.count; i++)
		if (names->objects.items[i]->file->is_go)
			return true;
	return false;
}

uint64_t data_names_thread_bytes(const struct data_names *names)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < names->objects.count; i++)
		bytes = add_saturated(bytes, names->objects.items[i]->file->thread_bytes);
	return bytes;
}

static void take_symbol(struct object_symbols *symbols, int index)
{
	const struct name_file *file = symbols->debug->file;
	GElf_Sym sym;
	GElf_Addr address;
	GElf_Word section;
	const char *name = dwfl_module_getsym_info(file->module, index, &sym, &address, &section, NULL, NULL);

	if (!name)
		return;
	const unsigned type = GELF_ST_TYPE(sym.st_info);

	if (!name[0] || strlen(name) >= NAME_LENGTH_MAX || section == SHN_UNDEF || section == SHN_ABS ||
	    (type != STT_OBJECT && type != STT_FUNC && type != STT_GNU_IFUNC))
		return;
	ARRAY_GROW(symbols->items, symbols->capacity, symbols->count);
	symbols->items[symbols->count++] = (struct data_symbol){
		.start = address - file->module_bias,
		.size = sym.st_size ? sym.st_size : 1,
		.name = name,
		.is_function = type != STT_OBJECT,
	};
}

static int data_names_compare(const void *a, const void *b)
{
	const struct data_symbol *one = a, *two = b;

	return compare_u64(one->start, two->start);
}

static void read_symbols(const struct data_names *names, struct object_symbols *symbols)
{
	symbols->is_read = true;
	symbols->debug = debug_file_open(symbols->object, names->sysroot);
	if (!symbols->debug)
		return;
	const int count = dwfl_module_getsymtab(symbols->debug->file->module);

	for (int i = 1; i < count && i < SYMBOLS_MAX; i++)
		take_symbol(symbols, i);
	if (symbols->count)
		qsort(symbols->items, symbols->count, sizeof(*symbols->items), data_names_compare);
}

static const struct elf_segment *segment_of(const struct object *object, uint64_t address)
{
	const struct elf_file *file = object->file;

	for (size_t i = 0; i < file->segment_count; i++)
		if (address - object->bias - file->segments[i].vaddr < file->segments[i].mem_size)
			return &file->segments[i];
	return NULL;
}

static const char *data_names_shown(struct data_symbol *symbol)
{
	if (!symbol->shown)
		symbol->shown = names_demangle(symbol->name);
	if (!symbol->shown)
		symbol->shown = xstrdup(symbol->name);
	return symbol->shown;
}

/* A large symbol may contain others, so several symbols before the address are examined. */
#define LOOK_BACK 16

static struct data_symbol *data_names_search(const struct object_symbols *symbols, uint64_t value)
{
	size_t i = COUNT_UP_TO(symbols->items, symbols->count, .start, value);

	for (unsigned looks = 0; i-- > 0 && looks < LOOK_BACK; looks++)
		if (value - symbols->items[i].start < symbols->items[i].size)
			return &symbols->items[i];
	return NULL;
}

bool data_names_find(struct data_names *names, uint64_t address, struct data_name *name)
{
	for (size_t i = 0; i < names->objects.count; i++) {
		struct object_symbols *symbols = &names->symbols[i];
		const struct elf_segment *segment = segment_of(symbols->object, address);

		if (!segment)
			continue;
		if (!symbols->is_read)
			read_symbols(names, symbols);
		const uint64_t value = address - symbols->object->bias;
		struct data_symbol *symbol = data_names_search(symbols, value);

		*name = (struct data_name){.object = symbols->object->path,
					   .symbol = symbol ? data_names_shown(symbol) : NULL,
					   .offset = symbol ? value - symbol->start : value,
					   .is_function = symbol && symbol->is_function,
					   .can_be_written = segment->write};
		return true;
	}
	return false;
}
