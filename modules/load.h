/* Loads modules from shared objects, and checks tables of modules. */
#ifndef FT_MODULES_LOAD_H
#define FT_MODULES_LOAD_H

#include "base/buf.h"
#include "modules/module.h"

#define MODULE_SYMBOL "functrace_module" /* name of the variable in the shared object, a const struct module * */

#define MODULE_NAME_MAX      64 /* maximum length of a name in bytes */
#define MODULE_RESOURCES_MAX 16
#define MODULE_WORDS_MAX     1000 /* maximum number of words or cases of a parameter */
#define MODULE_INTS_MAX      64   /* maximum number of ints that a PARAM_INTS shows */

/* Loads the shared object at `path` and returns its module; the file then stays loaded. Returns NULL if the file is not
 * a module for this functrace, and appends the reason to `said`. */
const struct module *module_load(const char *path, struct buf *said);
/* Returns true if functrace can use a module. The caller has checked that module->api is MODULE_API. If functrace
 * cannot use it, appends the first error to `said`. */
bool module_check(const struct module *module, struct buf *said);
/* Returns true if a text can be the name of a module or the type of a resource in a trace. */
bool module_is_name(const char *text);
/* Returns true if a value is computed from the function's result, which is not known at the function's entry. */
bool module_is_of_result(const struct value *value);

#endif
