#include "config.h"
#include "report/source_lines.h"
#include "symbols/elf/refused_files.h"

#include <stdlib.h>
#include <string.h>

/* Limits in bytes: a larger file is not written by hand, and a longer line is too long to read. */
enum { FILE_MAX = 8 << 20, LINE_MAX = 200 };

struct source_file {
	char *text; /* NULL: the file cannot be read */
	/* offsets of the lines' beginnings, because many frames may be in one large file */
	uint32_t *lines;
	size_t line_count, line_capacity;
};

static char *source_lines_read(const struct sources *sources, const char *path)
{
	char *full = xasprintf("%s%s", sources->sysroot ? sources->sysroot : "", path);
	char *const text = read_regular_file(full, FILE_MAX, NULL); /* a trace may name a device as a source file */

	if (!text)
		refused_open("source file", full);
	free(full);
	return text;
}

static void find_lines(struct source_file *file)
{
	const char *next = file->text;

	while (next) {
		ARRAY_GROW(file->lines, file->line_capacity, file->line_count);
		file->lines[file->line_count++] = (uint32_t)(next - file->text);
		next = strchr(next, '\n');
		next += next != NULL;
	}
}

static const struct source_file *source_lines_file_of(struct sources *sources, const char *path)
{
	struct source_file *file = hash_get_ptr(&sources->files, (uintptr_t)path);

	if (!file) {
		file = xcalloc(1, sizeof(*file));
		file->text = source_lines_read(sources, path);
		find_lines(file);
		hash_set_ptr(&sources->files, (uintptr_t)path, file);
	}
	return file;
}

bool source_line(struct sources *sources, const char *path, unsigned number, struct buf *line)
{
	const struct source_file *const file = source_lines_file_of(sources, path);

	if (!number || number > file->line_count)
		return false;
	const char *text = file->text + file->lines[number - 1];

	text += strspn(text, " \t");
	const size_t length = strcspn(text, "\r\n");

	line->size = 0;
	buf_add(line, text, length < LINE_MAX ? length : LINE_MAX);
	return length;
}

void sources_free(struct sources *sources)
{
	struct hash_entry *entry;

	for (size_t i = 0; (entry = hash_next(&sources->files, &i));) {
		struct source_file *file = (void *)(uintptr_t)entry->value;

		free(file->text);
		free(file->lines);
		free(file);
	}
	hash_free(&sources->files);
}
