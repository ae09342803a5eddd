/* The modules that are built into functrace. */
#ifndef FT_MODULES_KNOWN_H
#define FT_MODULES_KNOWN_H

#include "modules/module.h"

/* Returns a module by its number, in the order of module_names(); NULL after the last. */
const struct module *module_known(size_t index);
/* Returns the built-in module of that name, or NULL. */
const struct module *module_find(const char *name);
/* Returns the resource of that type in a built-in module, or NULL. */
const struct resource *module_resource(const char *type);
/* Returns the names of all modules, with ", " between; static memory. */
const char *module_names(void);
/* Returns what is known about a function by its exact symbol, whichever modules are chosen: its name, parameters,
 * result and errno. Functions that no module has, like read, are looked up in the table of prototypes. NULL:
 * unknown. */
const struct function *module_known_function(const char *symbol);
/* Reads all descriptions that module_known_function() searches. Otherwise it reads each when it first searches it. */
void module_read_all(void);

#endif
