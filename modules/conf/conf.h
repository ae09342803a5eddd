/* A module that a user describes in a text file, as functrace-modules(7) says. */
#ifndef FT_MODULES_CONF_CONF_H
#define FT_MODULES_CONF_CONF_H

#include "base/buf.h"
#include "modules/module.h"

#define CONF_SIZE_MAX  (1u << 20) /* bytes of a file */
#define CONF_ROWS_MAX  10000
#define CONF_GLOBS_MAX 1000 /* each is compared with every function of a program */

struct conf;

/* Reads the file. NULL: it is not to be used, and why is appended to `said`, a line an error (PATH:LINE: ...), without
 * the last line's end. Waits for nothing: what is no regular file is refused. */
struct conf *conf_read(const char *path, struct buf *said);
/* The same of the text of a file, `size` bytes of anything. */
struct conf *conf_parse(const char *path, const char *text, size_t size, struct buf *said);
/* It belongs to the conf, and so does all that it points to. */
const struct module *conf_module(const struct conf *conf);
void conf_free(struct conf *conf);

#endif
