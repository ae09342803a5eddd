/* The modules that are built into functrace. */
#ifndef FT_MODULES_KNOWN_H
#define FT_MODULES_KNOWN_H

#include "modules/module.h"

/* Returns the module with this index, in the order of module_names(); NULL after the last. */
const struct module *module_known(size_t index);
/* Returns the built-in module of that name, or NULL. */
const struct module *module_find(const char *name);
/* Returns the resource of that type in a built-in module, or NULL. */
const struct resource *module_resource(const char *type);
/* Returns the names of all modules, with ", " between; static memory. */
const char *module_names(void);
/* Returns the table row for a function with exactly this symbol, from all modules, also from modules that are not
 * selected. The row contains the function's name, parameters, result and errno. Functions that are in no module, such
 * as read, are looked up in the table of prototypes. Returns NULL if no table contains the function. */
const struct function *module_known_function(const char *symbol);
/* Reads all descriptions that module_known_function() searches. Without this call, each description is read when it is
 * searched for the first time. */
void module_read_all(void);

#endif
