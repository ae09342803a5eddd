/* Reads lines of source files. */
#ifndef FT_REPORT_SOURCE_LINES_H
#define FT_REPORT_SOURCE_LINES_H

#include "base/buf.h"
#include "base/hash.h"

/* The files that were read; initially all zeros. */
struct sources {
	const char *sysroot; /* prefix of paths; NULL: none */
	struct hash files;   /* interned path -> struct source_file */
};

/* Sets *line to a line of a file, without the indentation and the newline. path: an interned string. Returns false if
 * the file is missing or too large, or if the line is missing or empty. */
bool source_line(struct sources *sources, const char *path, unsigned number, struct buf *line);
void sources_free(struct sources *sources);

#endif
