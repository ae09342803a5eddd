/* Finds the addresses of an object's segments from the mappings of its file.
 *
 * A PT_LOAD (p_vaddr, p_offset, p_filesz) is mapped in whole pages. A page of the file that contains bytes of two
 * segments is mapped twice, and the two mappings may differ in address - offset. mprotect splits mappings, the kernel
 * merges similar neighbours, and other files can be mapped over them. This is always true: mapping's address -
 * mapping's offset = bias + p_vaddr - p_offset. */
#include "config.h"
#include "symbols/objects/load_layout.h"

#include <string.h>
#include <unistd.h>

#define NEIGHBOURS_MAX 64 /* number of mappings that are examined for one bias */

/* Returns true if both mappings are mappings of the same file, and are both shared or both private. A shared mapping
 * beside private mappings is another object. */
static bool same_file(const struct mapping *a, const struct mapping *b)
{
	return a->shared == b->shared && mapping_same_file(a, b);
}

/* Gets the range of pages of a segment at a bias. Returns false if it wraps around. */
static bool segment_pages(const struct elf_segment *segment, uint64_t bias, uint64_t size, uint64_t *start,
			  uint64_t *end)
{
	const uint64_t address = bias + segment->vaddr;

	if (address > UINT64_MAX - size - page_size())
		return false;
	*start = align_down(address, page_size());
	*end = align_up(address + size, page_size());
	return true;
}

/* Returns how many bytes of the mapping are in the pages of the segment if the file is loaded at this bias. */
static uint64_t explained(const struct mapping *mapping, const struct elf_segment *segment, uint64_t bias)
{
	uint64_t start, end;

	if (mapping->start - mapping->offset != bias + segment->vaddr - segment->offset ||
	    !segment_pages(segment, bias, segment->file_size, &start, &end))
		return 0;
	if (start < mapping->start)
		start = mapping->start;
	if (end > mapping->end)
		end = mapping->end;
	return start < end ? end - start : 0;
}

/* Gets the lowest start and the highest end of the file's segments at a bias. */
static void object_span(const struct elf_file *file, uint64_t bias, uint64_t *low, uint64_t *high)
{
	*low = UINT64_MAX;
	*high = 0;
	for (size_t i = 0; i < file->segment_count; i++) {
		uint64_t start, end;

		if (!segment_pages(&file->segments[i], bias, file->segments[i].mem_size, &start, &end))
			continue;
		if (start < *low)
			*low = start;
		if (end > *high)
			*high = end;
	}
}

static size_t first_mapping_from(const struct maps *maps, uint64_t address)
{
	return COUNT_UP_TO(maps->items, maps->count, .end, address);
}

static uint64_t score(const struct maps *maps, size_t index, const struct elf_file *file, uint64_t bias)
{
	uint64_t low, high, sum = 0;

	object_span(file, bias, &low, &high);
	size_t i = first_mapping_from(maps, low);

	for (size_t n = 0; n < NEIGHBOURS_MAX && i < maps->count; n++, i++) {
		const struct mapping *mapping = &maps->items[i];

		if (mapping->start >= high)
			break;
		if (!same_file(mapping, &maps->items[index]))
			continue;
		for (size_t s = 0; s < file->segment_count; s++) {
			const struct elf_segment *segment = &file->segments[s];
			const uint64_t bytes = explained(mapping, segment, bias);

			/* Count bytes with the right protection twice. This decides between candidates that are
			 * otherwise equal. */
			sum += mapping->exec == segment->exec ? 2 * bytes : bytes;
		}
	}
	return sum;
}

bool layout_find_bias(const struct maps *maps, size_t index, const struct elf_file *file, uint64_t *bias)
{
	const struct mapping *mapping = &maps->items[index];
	uint64_t best = 0;

	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *segment = &file->segments[i];
		const uint64_t candidate = mapping->start - mapping->offset - segment->vaddr + segment->offset;

		if ((candidate & (page_size() - 1)) || !explained(mapping, segment, candidate) ||
		    (best && candidate == *bias))
			continue;
		const uint64_t points = score(maps, index, file, candidate);

		if (points > best) {
			best = points;
			*bias = candidate;
		}
	}
	return best;
}

/* Returns true if another segment has bytes in these pages. */
static bool is_overlaid(const struct elf_file *file, const struct elf_segment *own, uint64_t bias, uint64_t start,
			uint64_t end)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *other = &file->segments[i];
		uint64_t other_start, other_end;

		if (other == own || !other->mem_size)
			continue;
		if (!segment_pages(other, bias, other->mem_size, &other_start, &other_end) ||
		    (other_start < end && start < other_end))
			return true;
	}
	return false;
}

static void load_layout_add_text(struct object *object, const struct mapping *mapping,
				 const struct elf_segment *segment)
{
	const uint64_t code = object->bias + segment->vaddr;
	const uint64_t code_end = code + segment->file_size;
	const uint64_t last_page = align_down(code_end - 1, page_size());
	struct text_range range = {
		.start = code > mapping->start ? code : mapping->start,
		.end = code_end < mapping->end ? code_end : mapping->end,
		.shared = mapping->shared,
	};

	if (!segment->exec || !mapping->exec || !explained(mapping, segment, object->bias))
		return;
	range.tail_start = range.tail_end = range.end;
	if (!mapping->shared && segment->file_size == segment->mem_size && mapping->end == last_page + page_size() &&
	    mapping->start <= last_page && !is_overlaid(object->file, segment, object->bias, last_page, mapping->end))
		range.tail_end = mapping->end;
	object->text = xreallocarray(object->text, object->text_count + 1, sizeof(*object->text));
	object->text[object->text_count++] = range;
}

/* Returns true if mapping `index` of the object's file belongs to the object. Another copy of the file may be mapped
 * next to the object, with its text at addresses where the object's data could be. Then layout_find_bias() decides to
 * which copy the mapping belongs. A mapping without access rights in a gap between segments belongs to the object: it
 * is a remainder of the mapping that reserved the object's whole address range. */
static bool belongs(const struct maps *maps, size_t index, const struct object *object)
{
	const struct mapping *mapping = &maps->items[index];
	const bool gap = !mapping->read && !mapping->write && !mapping->exec;
	bool is_data = false;
	uint64_t bias;

	for (size_t i = 0; i < object->file->segment_count; i++) {
		const struct elf_segment *segment = &object->file->segments[i];

		if (gap && mapping->start - mapping->offset == object->bias + segment->vaddr - segment->offset)
			return true;
		if (!explained(mapping, segment, object->bias))
			continue;
		if (!mapping->exec || segment->exec)
			return true;
		is_data = true;
	}
	return is_data && layout_find_bias(maps, index, object->file, &bias) && bias == object->bias;
}

void layout_fill(const struct maps *maps, size_t index, struct object *object, bool *taken)
{
	const struct elf_file *file = object->file;
	bool is_parted = false;
	uint64_t low, high;

	object_span(file, object->bias, &low, &high);
	object->start = maps->items[index].start;
	object->end = object->lookup_end = maps->items[index].end;
	for (size_t i = first_mapping_from(maps, low); i < maps->count; i++) {
		const struct mapping *mapping = &maps->items[i];

		if (mapping->start >= high)
			break;
		if (taken[i] || !same_file(mapping, &maps->items[index]) || !belongs(maps, i, object)) {
			is_parted |= mapping->inode || !strcmp(mapping->path, "[vdso]");
			continue;
		}
		taken[i] = true;
		if (mapping->start < object->start)
			object->start = mapping->start;
		if (mapping->end > object->end)
			object->end = mapping->end;
		if (mapping->end > object->lookup_end && (mapping->exec || !is_parted))
			object->lookup_end = mapping->end;
		for (size_t s = 0; s < file->segment_count; s++)
			load_layout_add_text(object, mapping, &file->segments[s]);
	}
}
