/* Quotes words of command lines that users copy into a shell. */
#ifndef FT_BASE_SHELL_QUOTE_H
#define FT_BASE_SHELL_QUOTE_H

#include "base/buf.h"

/* Appends the word, quoted for a shell. */
void shell_quote_add(struct buf *out, const char *word);
/* Appends a file name, quoted for a shell. Adds "./" before a name that begins with '-', so that the name is not taken
 * for an option. */
void shell_quote_add_path(struct buf *out, const char *path);

#endif
