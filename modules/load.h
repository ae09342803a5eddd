/* Loads modules from shared objects. */
#ifndef FT_MODULES_LOAD_H
#define FT_MODULES_LOAD_H

#include "base/buf.h"
#include "modules/module.h"

#define MODULE_SYMBOL "functrace_module" /* name of the variable in the shared object, a const struct module * */

/* Loads the shared object at `path` and returns its module; the file then stays loaded. Returns NULL if the file is not
 * a module for this functrace, and appends the reason to `said`. */
const struct module *module_load(const char *path, struct buf *said);

#endif
