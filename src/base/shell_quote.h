/* Quotes words of command lines that users copy into a shell. */
#ifndef FT_BASE_SHELL_QUOTE_H
#define FT_BASE_SHELL_QUOTE_H

#include "base/buf.h"

/* Appends the word, quoted for a shell. */
void shell_quote_add(struct buf *out, const char *word);
/* The same for a file name, so that a name that looks like an option is not taken for one. */
void shell_quote_add_path(struct buf *out, const char *path);

#endif
