#include "config.h"
#include "report/source_lines.h"
#include "symbols/elf/refused_files.h"

#include <stdlib.h>

/* Limits in bytes: a larger file is not written by hand, and a longer line is too long to read. */
enum { FILE_MAX = 8 << 20, LINE_MAX = 200 };

struct source_file {
	char *text; /* NULL: the file cannot be read */
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

static const struct source_file *source_lines_file_of(struct sources *sources, const char *path)
{
	struct source_file *file = hash_get_ptr(&sources->files, (uintptr_t)path);

	if (!file) {
		file = xmalloc(sizeof(*file));
		file->text = source_lines_read(sources, path);
		hash_set_ptr(&sources->files, (uintptr_t)path, file);
	}
	return file;
}

bool source_line(struct sources *sources, const char *path, unsigned number, struct buf *line)
{
	const char *text = source_lines_file_of(sources, path)->text;

	for (unsigned i = 1; text && i < number; i++) {
		text = strchr(text, '\n');
		text += text != NULL;
	}
	if (!text || !number)
		return false;
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
		free(file);
	}
	hash_free(&sources->files);
}
