/* Words of a command line that people copy into a shell. */
#ifndef FT_BASE_SHELL_QUOTE_H
#define FT_BASE_SHELL_QUOTE_H

#include "base/buf.h"

/* Appends the word as a shell reads it. */
void shell_quote_add(struct buf *out, const char *word);
/* The same of a file's name: one that looks like an option is none. */
void shell_quote_add_path(struct buf *out, const char *path);

#endif
