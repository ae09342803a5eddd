/* A module in the words of a description (conf.h). */
#ifndef FT_MODULES_CONF_WRITE_H
#define FT_MODULES_CONF_WRITE_H

#include "base/buf.h"
#include "modules/module.h"

/* Appends a text that conf_parse() makes the same rows of. What no text can say (code, what is known from before the
 * trace) stands there as a comment. */
void conf_write(const struct module *module, struct buf *text);

#endif
