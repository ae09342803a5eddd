/* Finds which part of an object's file was mapped at the object's range in a trace.
 *
 * According to functrace-formats(5), a range begins at file offset 0 and ends after the object's last mapping. The
 * sp-rtrace tools instead write each executable mapping as it is, which in most files begins some pages after offset 0.
 * The sizes of the file's executable segments show which of these two kinds a range is. */
#include "config.h"
#include "symbols/names/name_file.h"
#include "base/util.h"

/* Returns true if a mapping of the segment can have this size, with one of the page sizes that kernels use. */
static bool match_mapping(const struct code_segment *code, uint64_t size, uint64_t *start)
{
	static const uint64_t pages[] = {4096, 16384, 65536};

	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		const uint64_t mask = pages[i] - 1;

		*start = code->start & ~mask;
		if (((code->end + mask) & ~mask) - *start == size)
			return true;
	}
	return false;
}

enum name_place name_file_place(const struct name_file *file, uint64_t size, uint64_t *start)
{
	uint64_t code_end = file->origin, other;
	unsigned count = 0;

	for (size_t i = 0; i < file->code_count; i++)
		if (file->code[i].end > code_end)
			code_end = file->code[i].end;
	if (size >= code_end - file->origin) {
		*start = file->origin;
		count = 1;
	}
	for (size_t i = 0; i < file->code_count; i++)
		if (match_mapping(&file->code[i], size, &other) && (!count || other != *start)) {
			*start = other;
			count++;
		}
	return count == 1 ? NAME_PLACE_FOUND : count ? NAME_PLACE_SEVERAL : NAME_PLACE_NONE;
}
