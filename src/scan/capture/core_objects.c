#include "config.h"
#include "scan/capture/core_parts.h"

#define PAGE 4096u

/* Returns true if the next mapping continues this one in the file. may_share_page: also returns true if this mapping
 * ends with the page of the file with which the next one begins, because lld maps it twice, first as the end of
 * relro. */
static bool is_continued(const struct heap_mapping *m, bool may_share_page)
{
	const uint64_t end = m->offset + (m->end - m->start);

	return m[1].offset == end || (may_share_page && m[1].offset == end - PAGE);
}

bool core_is_constant(const struct object_memory *memory, size_t i)
{
	const struct heap_mapping *const m = &memory->mappings[i];

	if (m->writable || m->executable || !m->inode || i + 1 >= memory->count || m[1].start != m->end ||
	    !m[1].writable || m[1].inode != m->inode)
		return false;
	uint64_t first;
	const enum segment_answer answer = segments_ask(memory, i, &first);

	return answer == IS_VARIABLE || (answer < IS_NOT_VARIABLE && is_continued(m, answer == IS_UNKNOWN));
}

bool core_is_read_only(const struct heap_mapping *mapping)
{
	return mapping->readable && !mapping->inode && image_is_protected(mapping);
}
