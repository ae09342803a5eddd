/* Checks of modules' tables, and the limits that descriptions of modules are checked against, too. */
#ifndef FT_MODULES_CHECK_H
#define FT_MODULES_CHECK_H

#include "base/buf.h"
#include "modules/module.h"

#define MODULE_NAME_MAX      64 /* maximum length of a name in bytes */
#define MODULE_RESOURCES_MAX 16
#define MODULE_WORDS_MAX     1000 /* maximum number of words or cases of a parameter */
#define MODULE_INTS_MAX      64   /* maximum number of ints that a PARAM_INTS shows */

/* Returns true if functrace can use a module. The caller has checked that module->api is MODULE_API. If functrace
 * cannot use it, appends the first error to `said`. */
bool module_check(const struct module *module, struct buf *said);
/* Returns true if a text can be the name of a module or the type of a resource in a trace. */
bool module_is_name(const char *text);
/* Returns true if a value is computed from the function's result, which is not known at the function's entry. */
bool module_is_of_result(const struct value *value);

#endif
