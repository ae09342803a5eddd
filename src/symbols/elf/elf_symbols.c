/* Reads the function symbols of an ELF file: those of .dynsym, and of .symtab or of the .symtab in .gnu_debugdata.
 * Without section headers, the tables to which the dynamic section points are read. */
#include "config.h"
#include "arch/arch.h"
#include "base/util.h"
#include "context/context_table.h"
#include "symbols/elf/elf_file.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_MAX       ((size_t)1 << 30) /* bytes; a larger section is not read, a table without a section is cut */
#define SYMBOLS_MAX     ((size_t)8 << 20)
#define NAME_MAX_LENGTH 65536 /* a name of this length or longer is treated as damaged data */

/* ---- Collecting ---- */

enum rank { /* of several symbols with one name, elf_file_find() returns the one with the highest rank */
	    RANK_LOCAL,
	    RANK_HIDDEN, /* a global symbol of an old version */
	    RANK_GLOBAL,
};

/* A symbol table while it is read. */
struct elf_symbols_table {
	Elf_Data *symbols, *strings;
	Elf_Data *versions; /* versions of the symbols in .dynsym; or NULL */
	bool strip_version; /* names in .symtab may end in @VERSION or @@VERSION, which is cut off */
	Elf *sections;      /* the file whose section headers show which sections are code; NULL: unknown */
	struct hash seen;   /* hash of a name and value -> index */
	GElf_Shdr section;  /* the section header that was read last */
	size_t section_index;
};

bool elf_in_exec_segment(const struct elf_file *file, uint64_t value)
{
	value = arch_code_address(file->machine, value);
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *segment = &file->segments[i];

		if (segment->exec && value >= segment->vaddr && value - segment->vaddr < segment->mem_size)
			return true;
	}
	return false;
}

/* Returns true if a symbol without a type is hand-written code: it is in a section of code, and not the label at the
 * end of a section. */
static bool find_in_code_section(struct elf_symbols_table *table, const GElf_Sym *sym)
{
	if (!table->sections || sym->st_shndx >= SHN_LORESERVE)
		return false;
	if (table->section_index != sym->st_shndx) {
		Elf_Scn *scn = elf_getscn(table->sections, sym->st_shndx);

		if (!scn || !gelf_getshdr(scn, &table->section))
			return false;
		table->section_index = sym->st_shndx;
	}
	return (table->section.sh_flags & SHF_EXECINSTR) &&
	       sym->st_value - table->section.sh_addr < table->section.sh_size;
}

static bool elf_symbols_check_function(const struct elf_file *file, struct elf_symbols_table *table,
				       const GElf_Sym *sym)
{
	const unsigned type = GELF_ST_TYPE(sym->st_info);
	const bool global = GELF_ST_BIND(sym->st_info) != STB_LOCAL;

	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS || !sym->st_value)
		return false;
	if (type != STT_FUNC && type != STT_GNU_IFUNC &&
	    !(type == STT_NOTYPE && global && find_in_code_section(table, sym)))
		return false;
	return elf_in_exec_segment(file, sym->st_value);
}

/* Makes elf_file_find() find this symbol by its name, if it has the highest rank so far. Of two names with the same
 * hash only the first can be found, but elf_file_functions() lists both. */
static void index_name(struct elf_file *file, uint64_t name_hash, size_t index)
{
	const uint64_t *other = hash_get(&file->table.by_name, name_hash);

	if (other && (file->table.ranks[*other] >= file->table.ranks[index] ||
		      strcmp(file->table.symbols[*other].name, file->table.symbols[index].name) != 0))
		return;
	hash_set(&file->table.by_name, name_hash, index);
}

static void add_symbol(struct elf_file *file, struct elf_symbols_table *table, const GElf_Sym *sym, const char *name,
		       size_t length, enum rank rank)
{
	const uint64_t name_hash = hash_bytes(name, length);
	const uint64_t both = hash_mix(name_hash ^ hash_mix(sym->st_value));
	const uint64_t *seen = hash_get(&table->seen, both);

	if (seen && file->table.symbols[*seen].value == sym->st_value &&
	    !strncmp(file->table.symbols[*seen].name, name, length) && !file->table.symbols[*seen].name[length]) {
		if (rank > file->table.ranks[*seen]) {
			file->table.ranks[*seen] = rank;
			index_name(file, name_hash, *seen);
		}
		return;
	}
	const size_t index = file->table.symbol_count;

	ARRAY_GROW(file->table.symbols, file->table.symbol_capacity, index);
	ARRAY_GROW(file->table.ranks, file->table.rank_capacity, index);
	file->table.symbols[index] = (struct elf_symbol){
		.name = elf_keep_name(file, name, length),
		.value = sym->st_value,
		.size = sym->st_size,
		.is_ifunc = GELF_ST_TYPE(sym->st_info) == STT_GNU_IFUNC,
		.is_global = GELF_ST_BIND(sym->st_info) != STB_LOCAL,
		.is_untyped = GELF_ST_TYPE(sym->st_info) == STT_NOTYPE,
	};
	file->table.ranks[index] = rank;
	file->table.symbol_count++;
	hash_set(&table->seen, both, index);
	index_name(file, name_hash, index);
}

/* Returns the string at an offset of a string table; returns NULL if it is empty, or does not end in the table. */
static const char *string_at(const Elf_Data *strings, size_t offset, size_t *length)
{
	if (offset >= strings->d_size)
		return NULL;
	const char *string = (const char *)strings->d_buf + offset;
	const size_t left = strings->d_size - offset;
	const size_t most = left < NAME_MAX_LENGTH ? left : NAME_MAX_LENGTH;

	*length = strnlen(string, most);
	return *length && *length < most ? string : NULL;
}

static bool is_hidden_version(const struct elf_symbols_table *table, size_t index)
{
	GElf_Versym version;

	return table->versions && gelf_getversym(table->versions, (int)index, &version) && (version & 0x8000);
}

/* Stores the address of the only variable that is needed: the context library's table. */
static void note_variable(struct elf_file *file, const struct elf_symbols_table *table, const GElf_Sym *sym)
{
	size_t length;
	const char *const name = string_at(table->strings, sym->st_name, &length);

	if (name && sym->st_shndx != SHN_UNDEF && !strcmp(name, CONTEXT_TABLE_SYMBOL))
		file->contexts = sym->st_value;
}

static void elf_symbols_read_table(struct elf_file *file, struct elf_symbols_table *table)
{
	const size_t entry = file->class == ELFCLASS32 ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
	const size_t count = table->symbols->d_size / entry;

	for (size_t i = 1; i < count && i <= INT32_MAX; i++) {
		GElf_Sym sym;
		size_t length;

		if (file->table.symbol_count == SYMBOLS_MAX || !gelf_getsym(table->symbols, (int)i, &sym))
			return;
		if (GELF_ST_TYPE(sym.st_info) == STT_OBJECT)
			note_variable(file, table, &sym);
		if (!elf_symbols_check_function(file, table, &sym))
			continue;
		const char *name = string_at(table->strings, sym.st_name, &length);

		if (!name)
			continue;
		enum rank rank = RANK_GLOBAL;

		if (GELF_ST_BIND(sym.st_info) == STB_LOCAL)
			rank = RANK_LOCAL;
		else if (is_hidden_version(table, i))
			rank = RANK_HIDDEN;
		if (table->strip_version) {
			const char *at = memchr(name + 1, '@', length - 1);

			if (at) {
				length = (size_t)(at - name);
				if (at[1] != '@' && rank == RANK_GLOBAL)
					rank = RANK_HIDDEN;
			}
		}
		add_symbol(file, table, &sym, name, length, rank);
	}
}

/* ---- By section headers ---- */

static Elf_Data *section_data(Elf_Scn *scn, GElf_Shdr *shdr)
{
	if (!scn || !gelf_getshdr(scn, shdr) || shdr->sh_type == SHT_NOBITS || (shdr->sh_flags & SHF_COMPRESSED) ||
	    shdr->sh_size > TABLE_MAX || !shdr->sh_size)
		return NULL;
	Elf_Data *data = elf_getdata(scn, NULL);

	return data && data->d_buf ? data : NULL;
}

/* Reads the symbols of the file's table of this type. Returns false if there is no such table, or if it is empty. */
static bool elf_symbols_read_sections(struct elf_file *file, Elf *elf, uint32_t type, struct hash *seen)
{
	bool found = false;

	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		struct elf_symbols_table table = {.strip_version = type == SHT_SYMTAB, .sections = elf};
		GElf_Shdr shdr, other;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != type)
			continue;
		table.symbols = section_data(scn, &shdr);
		table.strings = section_data(elf_getscn(elf, shdr.sh_link), &other);
		if (!table.symbols || !table.strings || table.symbols->d_type != ELF_T_SYM)
			continue;
		for (Elf_Scn *version = NULL; type == SHT_DYNSYM && (version = elf_nextscn(elf, version));)
			if (gelf_getshdr(version, &other) && other.sh_type == SHT_GNU_versym &&
			    other.sh_link == elf_ndxscn(scn))
				table.versions = section_data(version, &other);
		table.seen = *seen;
		elf_symbols_read_table(file, &table);
		*seen = table.seen;
		found = true;
		break; /* a valid file has only one; a hostile file may have thousands */
	}
	return found;
}

static bool read_debugdata(struct elf_file *file, Elf *elf, struct hash *seen)
{
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr shdr;
		const char *name = gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;

		if (!name || strcmp(name, ".gnu_debugdata") != 0)
			continue;
		const Elf_Data *data = section_data(scn, &shdr);
		size_t size;
		char *image = data ? elf_debugdata_unpack(data->d_buf, data->d_size, &size) : NULL;
		Elf *inner = image ? elf_memory(image, size) : NULL;
		const bool found = inner && elf_kind(inner) == ELF_K_ELF && gelf_getclass(inner) == file->class &&
				   elf_symbols_read_sections(file, inner, SHT_SYMTAB, seen);

		elf_end(inner);
		free(image);
		return found;
	}
	return false;
}

/* ---- By the dynamic section ---- */

struct dynamic {
	uint64_t symtab, strtab, strsz, versym, hash, gnu_hash;
};

/* Finds the file offset of an address, and how many bytes its segment has in the file from there on. If the dynamic
 * section is in memory, ld.so may have added memory_bias to the address, so address - memory_bias is tried, too. */
static bool elf_symbols_offset_of(const struct elf_file *file, uint64_t address, uint64_t memory_bias, uint64_t *offset,
				  uint64_t *left)
{
	for (int pass = 0; pass < 2; pass++, address -= memory_bias) {
		for (size_t i = 0; i < file->segment_count; i++) {
			const struct elf_segment *segment = &file->segments[i];
			const uint64_t into = address - segment->vaddr;

			if (address < segment->vaddr || into >= segment->file_size)
				continue;
			*offset = segment->offset + into;
			*left = segment->file_size - into;
			return true;
		}
	}
	return false;
}

static Elf_Data *chunk_at(const struct elf_file *file, Elf *elf, uint64_t memory_bias, uint64_t address, uint64_t size,
			  Elf_Type type)
{
	uint64_t offset, left;

	if (!address || !elf_symbols_offset_of(file, address, memory_bias, &offset, &left))
		return NULL;
	if (size > left)
		size = left;
	if (size > TABLE_MAX)
		size = TABLE_MAX;
	Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)offset, size, type);

	return data && data->d_buf ? data : NULL;
}

static uint32_t elf_symbols_word_at(const Elf_Data *words, uint64_t index)
{
	uint32_t word = 0;

	if (index < words->d_size / sizeof(word))
		memcpy(&word, (const char *)words->d_buf + index * sizeof(word), sizeof(word));
	return word;
}

/* Returns the number of dynamic symbols, which only the hash tables show. DT_HASH contains it as its second word. In
 * DT_GNU_HASH it follows from the end of the last chain: [buckets, first symbol, words of the Bloom filter, shift]
 * [filter][buckets][one hash value for each symbol; its lowest bit is set at the end of a chain]. */
static size_t count_symbols(const struct elf_file *file, Elf *elf, uint64_t memory_bias, const struct dynamic *dynamic)
{
	const Elf_Data *words = chunk_at(file, elf, memory_bias, dynamic->hash, 2 * sizeof(uint32_t), ELF_T_WORD);

	if (words)
		return elf_symbols_word_at(words, 1);
	words = chunk_at(file, elf, memory_bias, dynamic->gnu_hash, UINT64_MAX, ELF_T_WORD);
	if (!words)
		return 0;
	const uint64_t buckets = elf_symbols_word_at(words, 0), first = elf_symbols_word_at(words, 1);
	const uint64_t filter = elf_symbols_word_at(words, 2) * (file->class == ELFCLASS64 ? 2u : 1u);
	const uint64_t chains = 4 + filter + buckets, total = words->d_size / sizeof(uint32_t);
	uint64_t last = 0;

	for (uint64_t i = 0; i < buckets && 4 + filter + i < total; i++)
		if (elf_symbols_word_at(words, 4 + filter + i) > last)
			last = elf_symbols_word_at(words, 4 + filter + i);
	if (last < first)
		return first;
	while (chains + last - first < total && !(elf_symbols_word_at(words, chains + last - first) & 1))
		last++;
	return last + 1;
}

static bool find_dynamic(Elf *elf, GElf_Phdr *phdr)
{
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count && i < PHDRS_MAX; i++)
		if (gelf_getphdr(elf, (int)i, phdr) && phdr->p_type == PT_DYNAMIC)
			return true;
	return false;
}

static bool elf_symbols_read_dynamic(const struct elf_file *file, Elf *elf, struct dynamic *dynamic)
{
	const struct {
		GElf_Sxword tag;
		uint64_t *value;
	} places[] = {{DT_SYMTAB, &dynamic->symtab}, {DT_STRTAB, &dynamic->strtab}, {DT_STRSZ, &dynamic->strsz},
		      {DT_VERSYM, &dynamic->versym}, {DT_HASH, &dynamic->hash},     {DT_GNU_HASH, &dynamic->gnu_hash}};
	const size_t entry = gelf_fsize(elf, ELF_T_DYN, 1, EV_CURRENT);
	GElf_Phdr phdr;

	*dynamic = (struct dynamic){0};
	if (!entry || !find_dynamic(elf, &phdr))
		return false;
	size_t count = phdr.p_filesz / entry;

	if (count > DYNAMIC_MAX)
		count = DYNAMIC_MAX;
	Elf_Data *data = chunk_at(file, elf, 0, phdr.p_vaddr, count * entry, ELF_T_DYN);
	GElf_Dyn dyn;

	for (size_t i = 0; data && i < count && gelf_getdyn(data, (int)i, &dyn) && dyn.d_tag != DT_NULL; i++)
		for (size_t j = 0; j < ARRAY_SIZE(places); j++)
			if (dyn.d_tag == places[j].tag)
				*places[j].value = dyn.d_un.d_val;
	return dynamic->symtab && dynamic->strtab;
}

static void read_by_dynamic(struct elf_file *file, Elf *elf, uint64_t memory_bias, struct hash *seen)
{
	struct dynamic dynamic;
	struct elf_symbols_table table = {.seen = *seen};
	size_t count;

	if (!elf_symbols_read_dynamic(file, elf, &dynamic))
		return;
	count = count_symbols(file, elf, memory_bias, &dynamic);
	if (!count || count > SYMBOLS_MAX)
		return;
	table.symbols = chunk_at(file, elf, memory_bias, dynamic.symtab,
				 count * gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT), ELF_T_SYM);
	table.strings = chunk_at(file, elf, memory_bias, dynamic.strtab, dynamic.strsz, ELF_T_BYTE);
	table.versions = chunk_at(file, elf, memory_bias, dynamic.versym, count * 2, ELF_T_HALF);
	if (table.symbols && table.strings)
		elf_symbols_read_table(file, &table);
	*seen = table.seen;
}

void elf_symbols_read(struct elf_file *file, Elf *elf, uint64_t memory_bias)
{
	struct hash seen = {0};

	if (!elf_symbols_read_sections(file, elf, SHT_DYNSYM, &seen))
		read_by_dynamic(file, elf, memory_bias, &seen);
	file->table.has_symtab = elf_symbols_read_sections(file, elf, SHT_SYMTAB, &seen);
	if (!file->table.has_symtab)
		file->table.has_other_symtab = read_debugdata(file, elf, &seen);
	hash_free(&seen);
	file->cached.bytes += file->table.symbol_capacity * (sizeof(*file->table.symbols) + 1) +
			      file->table.by_name.capacity * sizeof(struct hash_entry);
}

void elf_symbols_free(struct elf_file *file)
{
	elf_names_free(&file->table.names);
	free(file->table.symbols);
	free(file->table.ranks);
	free(file->functions.debug_symbols);
	free(file->functions.chosen);
	free(file->functions.wanted);
	hash_free(&file->table.by_name);
}

/* ---- Looking up ---- */

void elf_file_functions(const struct elf_file *file, bool (*callback)(void *context, const struct elf_symbol *symbol),
			void *context)
{
	for (size_t i = 0; i < file->table.symbol_count; i++)
		if (!callback(context, &file->table.symbols[i]))
			return;
}

bool elf_file_find(const struct elf_file *file, const char *name, struct elf_symbol *symbol)
{
	const uint64_t *index = hash_get(&file->table.by_name, hash_bytes(name, strlen(name)));

	if (!index || strcmp(file->table.symbols[*index].name, name) != 0)
		return false;
	*symbol = file->table.symbols[*index];
	return true;
}

bool elf_file_has_locals(const struct elf_file *file)
{
	return file->table.has_symtab || file->table.has_other_symtab;
}

bool elf_file_has_symbols(const struct elf_file *file)
{
	return file->table.symbol_count;
}
