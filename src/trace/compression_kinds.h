/* The kinds of compression of a trace, and the suffixes of compressed files. */
#ifndef FT_TRACE_COMPRESSION_KINDS_H
#define FT_TRACE_COMPRESSION_KINDS_H

#include <stdbool.h>

enum packing { PACKING_NONE, PACKING_GZIP, PACKING_ZSTD };

/* Returns the kind of compression by the suffix of a file's name: .gz, .zst. */
enum packing packing_of_path(const char *path);
/* Returns ".gz", ".zst", or "" for PACKING_NONE. */
const char *packing_suffix(enum packing packing);
/* Chooses the compression by the name of the output (NULL if it has no name) and the value of --compress: "zst", "gz",
 * or NULL for what the name says, and zst if it says nothing. Returns false if the value is unknown or contradicts the
 * name; *packing is then what the name says. */
bool packing_choose(const char *path, const char *wanted, enum packing *packing);

#endif
