/* The kinds of compression of a trace, and the suffixes of compressed files. */
#ifndef FT_TRACE_COMPRESSION_KINDS_H
#define FT_TRACE_COMPRESSION_KINDS_H

#include <stdbool.h>

enum packing { PACKING_NONE, PACKING_GZIP, PACKING_ZSTD };

/* Returns the compression that the suffix of a file's name means (.gz, .zst), or PACKING_NONE. */
enum packing packing_of_path(const char *path);
/* Returns ".gz", ".zst", or "" for PACKING_NONE. */
const char *packing_suffix(enum packing packing);
/* Chooses the compression of an output. path: its name, or NULL. wanted: the value of --compress ("zst" or "gz"). If it
 * is NULL, the suffix of the name decides; without a known suffix, zst is chosen. Returns false if `wanted` is unknown
 * or contradicts the suffix; *packing is then the compression that the suffix means. */
bool packing_choose(const char *path, const char *wanted, enum packing *packing);

#endif
