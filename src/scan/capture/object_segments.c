#include "config.h"
#include "scan/capture/object_segments.h"

#include <elf.h>
#include <string.h>

#define PAGE         4096u
#define MAPPINGS_MAX 16u /* maximum number of a file's mappings that are searched for its ELF header */
#define SEGMENTS_MAX 64u /* maximum number of an object's program headers */

struct segment_table {
	uint64_t offset;
	size_t count;
	bool is_wide;
};

struct segment {
	uint64_t offset, address, size;
	bool is_loaded, is_writable;
};

static bool segments_read_all(const struct object_memory *memory, uint64_t address, void *data, size_t size)
{
	return memory->read(memory->context, address, data, size) == size;
}

static enum segment_answer read_segment_table(const struct object_memory *memory, uint64_t start,
					      struct segment_table *table)
{
	Elf64_Ehdr wide;
	Elf32_Ehdr narrow;

	table->is_wide = memory->arch->pointer_size == 8;
	void *const header = table->is_wide ? (void *)&wide : (void *)&narrow;

	if (!segments_read_all(memory, start, header, table->is_wide ? sizeof(wide) : sizeof(narrow)))
		return IS_UNKNOWN;
	if (memcmp(header, ELFMAG, SELFMAG) != 0)
		return IS_NO_OBJECT;
	table->offset = table->is_wide ? wide.e_phoff : narrow.e_phoff;
	table->count = table->is_wide ? wide.e_phnum : narrow.e_phnum;
	const size_t size = table->is_wide ? wide.e_phentsize : narrow.e_phentsize;

	return size == (table->is_wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)) && table->count <= SEGMENTS_MAX
		       ? IS_NOT_VARIABLE
		       : IS_UNKNOWN;
}

static bool read_segment(const struct object_memory *memory, uint64_t start, const struct segment_table *table,
			 size_t i, struct segment *segment)
{
	Elf64_Phdr wide;
	Elf32_Phdr narrow;
	const size_t size = table->is_wide ? sizeof(wide) : sizeof(narrow);

	if (!segments_read_all(memory, start + table->offset + i * size,
			       table->is_wide ? (void *)&wide : (void *)&narrow, size))
		return false;
	if (table->is_wide)
		*segment = (struct segment){wide.p_offset, wide.p_vaddr, wide.p_memsz, wide.p_type == PT_LOAD,
					    wide.p_flags & PF_W};
	else
		*segment = (struct segment){narrow.p_offset, narrow.p_vaddr, narrow.p_memsz, narrow.p_type == PT_LOAD,
					    narrow.p_flags & PF_W};
	return true;
}

/* Returns what the object whose ELF header is at `start` says about the first page of a mapping. If the page has
 * variables, sets *first to the address of the first one in the mapping. */
static enum segment_answer ask_object(const struct object_memory *memory, uint64_t start, const struct heap_mapping *m,
				      uint64_t *first)
{
	struct segment_table table;
	enum segment_answer answer = read_segment_table(memory, start, &table);
	bool has_bias = false;
	uint64_t bias = 0;

	for (size_t i = 0; answer != IS_UNKNOWN && answer != IS_NO_OBJECT && i < table.count; i++) {
		struct segment segment;

		if (!read_segment(memory, start, &table, i, &segment))
			return IS_UNKNOWN;
		if (!segment.is_loaded)
			continue;
		if (!has_bias)
			bias = start - (segment.address - segment.offset);
		has_bias = true;
		const uint64_t begin = bias + segment.address, page = begin - begin % PAGE;
		const uint64_t variable = begin > m->start ? begin : m->start;

		if (!segment.is_writable || m->start < page || m->start - page >= segment.size + begin % PAGE)
			continue;
		*first = answer == IS_VARIABLE && *first < variable ? *first : variable;
		answer = IS_VARIABLE;
	}
	return answer;
}

/* Asks each ELF header in the mappings of mapping i's file. There may be several headers: a file may be mapped as
 * several adjacent objects, and the first page of a small file may be mapped for each of its segments. */
enum segment_answer segments_ask(const struct object_memory *memory, size_t i, uint64_t *first)
{
	const struct heap_mapping *const m = &memory->mappings[i];
	enum segment_answer best = IS_UNKNOWN;

	for (size_t back = 0; back < MAPPINGS_MAX && back <= i; back++) {
		const struct heap_mapping *const file = m - back;
		uint64_t variable = 0;

		if (file->inode != m->inode || file->device != m->device)
			break;
		const enum segment_answer answer =
			file->offset ? IS_UNKNOWN : ask_object(memory, file->start, m, &variable);

		if (answer == IS_VARIABLE)
			*first = best == IS_VARIABLE && *first < variable ? *first : variable;
		best = answer > best ? answer : best;
	}
	return best;
}

uint64_t segments_first_variable(const struct object_memory *memory, size_t i)
{
	const struct heap_mapping *const m = &memory->mappings[i];
	uint64_t first;

	return m->inode && segments_ask(memory, i, &first) == IS_VARIABLE && first > m->start ? first : 0;
}
