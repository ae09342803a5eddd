/* How the bytes of a trace are compressed: the kinds, and the names of files that are. */
#ifndef FT_TRACE_COMPRESSION_H
#define FT_TRACE_COMPRESSION_H

#include <stdbool.h>

enum packing { PACKING_NONE, PACKING_GZIP, PACKING_ZSTD };

/* By how the name of a file ends: .gz, .zst. */
enum packing packing_of_path(const char *path);
/* ".gz", ".zst", "" for none. */
const char *packing_suffix(enum packing packing);
/* What is to be compressed how, by the name of the output (NULL: it has none of its own) and the value of --compress
 * ("zst", "gz"; NULL: as the name says, zst where it says nothing). False: there is no such kind, or the name says
 * another one; *packing is then what the name says. */
bool packing_choose(const char *path, const char *wanted, enum packing *packing);

#endif
