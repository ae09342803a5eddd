#include "config.h"
#include "scan/capture/core_objects.h"

#include <elf.h>
#include <string.h>

#define PAGE         4096u
#define MAPPINGS_MAX 16u /* maximum number of a file's mappings that are searched for its ELF header */
#define SEGMENTS_MAX 64u /* maximum number of an object's program headers */

enum core_objects_answer { IS_UNKNOWN, IS_NO_OBJECT, IS_NOT_VARIABLE, IS_VARIABLE };

struct core_objects_table {
	uint64_t offset;
	size_t count;
	bool is_wide;
};

struct segment {
	uint64_t offset, address, size;
	bool is_loaded, is_writable;
};

static bool core_objects_read_all(const struct core_memory *memory, uint64_t address, void *data, size_t size)
{
	return memory->read(memory->context, address, data, size) == size;
}

static enum core_objects_answer core_objects_read_table(const struct core_memory *memory, uint64_t start,
							struct core_objects_table *table)
{
	Elf64_Ehdr wide;
	Elf32_Ehdr narrow;

	table->is_wide = memory->arch->pointer_size == 8;
	void *const header = table->is_wide ? (void *)&wide : (void *)&narrow;

	if (!core_objects_read_all(memory, start, header, table->is_wide ? sizeof(wide) : sizeof(narrow)))
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

static bool read_segment(const struct core_memory *memory, uint64_t start, const struct core_objects_table *table,
			 size_t i, struct segment *segment)
{
	Elf64_Phdr wide;
	Elf32_Phdr narrow;
	const size_t size = table->is_wide ? sizeof(wide) : sizeof(narrow);

	if (!core_objects_read_all(memory, start + table->offset + i * size,
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

/* Returns how the object whose ELF header is at `start` describes the page at `address`. */
static enum core_objects_answer ask_object(const struct core_memory *memory, uint64_t start, uint64_t address)
{
	struct core_objects_table table;
	enum core_objects_answer answer = core_objects_read_table(memory, start, &table);
	bool has_bias = false;
	uint64_t bias = 0;

	for (size_t i = 0; answer == IS_NOT_VARIABLE && i < table.count; i++) {
		struct segment segment;

		if (!read_segment(memory, start, &table, i, &segment))
			return IS_UNKNOWN;
		if (!segment.is_loaded)
			continue;
		if (!has_bias)
			bias = start - (segment.address - segment.offset);
		has_bias = true;
		const uint64_t begin = bias + segment.address, first = begin - begin % PAGE;

		if (segment.is_writable && address >= first && address - first < segment.size + begin % PAGE)
			answer = IS_VARIABLE;
	}
	return answer;
}

/* Asks all objects in the file's mappings, and returns the greatest of their answers. There may be several objects,
 * because objects of one file may be adjacent, and the first page of a small file may be mapped for each of its
 * segments. */
static enum core_objects_answer ask_file(const struct core_memory *memory, size_t i)
{
	const struct heap_mapping *const m = &memory->mappings[i];
	enum core_objects_answer best = IS_UNKNOWN;

	for (size_t back = 0; back < MAPPINGS_MAX && back <= i; back++) {
		const struct heap_mapping *const file = m - back;

		if (file->inode != m->inode)
			break;
		const enum core_objects_answer answer =
			file->offset ? IS_UNKNOWN : ask_object(memory, file->start, m->start);

		best = answer > best ? answer : best;
	}
	return best;
}

/* Returns true if the next mapping continues this one in the file. may_share_page: also returns true if both mappings
 * contain one page of the file, because lld maps this page twice, the first time as the end of relro. */
static bool is_continued(const struct heap_mapping *m, bool may_share_page)
{
	const uint64_t end = m->offset + (m->end - m->start);

	return m[1].offset == end || (may_share_page && m[1].offset == end - PAGE);
}

bool core_is_constant(const struct core_memory *memory, size_t i)
{
	const struct heap_mapping *const m = &memory->mappings[i];

	if (m->writable || m->executable || !m->inode || i + 1 >= memory->count || m[1].start != m->end ||
	    !m[1].writable || m[1].inode != m->inode)
		return false;
	const enum core_objects_answer answer = ask_file(memory, i);

	return answer == IS_VARIABLE || (answer < IS_NOT_VARIABLE && is_continued(m, answer == IS_UNKNOWN));
}

bool core_is_read_only(const struct heap_mapping *mapping)
{
	return mapping->readable && !mapping->inode && image_is_protected(mapping);
}
