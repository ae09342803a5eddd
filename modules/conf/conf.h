/* Reads modules that users describe in text files, as functrace-modules(7) documents. */
#ifndef FT_MODULES_CONF_CONF_H
#define FT_MODULES_CONF_CONF_H

#include "base/buf.h"
#include "modules/module.h"

#define CONF_SIZE_MAX  (1u << 20) /* bytes of a file */
#define CONF_ROWS_MAX  10000
#define CONF_GLOBS_MAX 1000 /* of patterns with wildcards; each is compared with every function of a program */

struct conf;

/* Reads a file; conf_free() frees the result. Returns NULL on errors, which are appended to `said`, one per line
 * (PATH:LINE: ...), the last without a newline. Refuses anything but a regular file, so that it never blocks. */
struct conf *conf_read(const char *path, struct buf *said);
/* Does the same with the text of a file, of `size` bytes, which may be anything. path: for messages. */
struct conf *conf_parse(const char *path, const char *text, size_t size, struct buf *said);
/* Returns the module. It belongs to the conf, as everything that it points to. */
const struct module *conf_module(const struct conf *conf);
void conf_free(struct conf *conf);

#endif
