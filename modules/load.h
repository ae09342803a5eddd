/* A module that comes as a shared object, and whether a module's table is sound. */
#ifndef FT_MODULES_LOAD_H
#define FT_MODULES_LOAD_H

#include "base/buf.h"
#include "modules/module.h"

#define MODULE_SYMBOL "functrace_module" /* a const struct module * */

#define MODULE_NAME_MAX      64 /* bytes */
#define MODULE_RESOURCES_MAX 16

/* Loads the file, which stays loaded. NULL: it is no module for this functrace, and why is appended to `said`. */
const struct module *module_load(const char *path, struct buf *said);
/* Whether a module of this MODULE_API says nothing that functrace could not do; else the first thing that is wrong is
 * appended to `said`. */
bool module_check(const struct module *module, struct buf *said);
/* Whether it can stand in a trace as the name of a module or the type of a resource. */
bool module_is_name(const char *text);

#endif
