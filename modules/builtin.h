/* Makes tables of the descriptions that are built into functrace. */
#ifndef FT_MODULES_BUILTIN_H
#define FT_MODULES_BUILTIN_H

#include "modules/module.h"

/* Returns the module that modules/tables/NAME.conf describes; the file must exist. The first call for a name reads
 * it. Any thread may call. The module stays valid. */
const struct module *builtin_module(const char *name);

#endif
