/* Makes module tables from the descriptions that are built into functrace. */
#ifndef FT_MODULES_BUILTIN_H
#define FT_MODULES_BUILTIN_H

#include "modules/module.h"

/* Returns the module that the built-in description `name` describes (modules/tables/NAME.conf). The description must
 * exist. The first call for a name parses the description. Any thread may call. The module is never freed. */
const struct module *builtin_module(const char *name);

#endif
