/* Lines of source files. */
#ifndef FT_REPORT_SOURCE_LINES_H
#define FT_REPORT_SOURCE_LINES_H

#include "base/buf.h"
#include "base/hash.h"

/* The files that were looked at; zero at first. */
struct sources {
	const char *sysroot; /* put before paths; NULL none */
	struct hash files;   /* interned path -> struct source_file */
};

/* Sets *line to a line of a file, without its indentation and end; the path is an interned string. False if the file is
 * not there, is too large or has no such line. */
bool source_line(struct sources *sources, const char *path, unsigned number, struct buf *line);
void sources_free(struct sources *sources);

#endif
