/* Reads text files in which users describe modules, as functrace-modules(7) documents. */
#ifndef FT_MODULES_CONF_CONF_H
#define FT_MODULES_CONF_CONF_H

#include "base/buf.h"
#include "modules/module.h"

#define CONF_SIZE_MAX  (1u << 20) /* maximum size of a file in bytes */
#define CONF_ROWS_MAX  10000
#define CONF_GLOBS_MAX 1000 /* maximum number of patterns with wildcards; each is compared with all functions */

struct conf;

/* Reads a file; conf_free() frees the result. On errors returns NULL, and appends them to `said`, one in each line
 * (PATH:LINE: ...), the last without a newline. Reads only regular files, so that it never blocks. */
struct conf *conf_read(const char *path, struct buf *said);
/* Like conf_read(), but parses `text`, the contents of a file, which may be any `size` bytes. path: the file's name in
 * messages. */
struct conf *conf_parse(const char *path, const char *text, size_t size, struct buf *said);
/* Returns the module. The conf owns the module and all data to which it points. */
const struct module *conf_module(const struct conf *conf);
void conf_free(struct conf *conf);

#endif
