/* A description that functrace has, as tables. */
#ifndef FT_MODULES_BUILTIN_H
#define FT_MODULES_BUILTIN_H

#include "modules/module.h"

/* What modules/tables/NAME.conf describes, which there must be. It is read when it is asked for first, by any thread,
 * and stays. */
const struct module *builtin_module(const char *name);

#endif
