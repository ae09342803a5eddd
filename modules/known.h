/* The modules that functrace has. */
#ifndef FT_MODULES_KNOWN_H
#define FT_MODULES_KNOWN_H

#include "modules/module.h"

/* One by one, in the order of their names in module_names(); NULL behind the last. */
const struct module *module_known(size_t index);
/* The module of that name, or NULL: also for one that was written for another MODULE_API. */
const struct module *module_find(const char *name);
/* The resource of that type that a module of functrace's has, or NULL. */
const struct resource *module_resource(const char *type);
const char *module_names(void);
/* What is known of the function of exactly that symbol, whatever module is chosen: its name, parameters, result and
 * errno. Of a function that no module of functrace's is about (read), of the table of prototypes; NULL: nothing. */
const struct function *module_known_function(const char *symbol);
/* Reads all descriptions that module_known_function() searches, which otherwise reads each when it comes to it. */
void module_read_all(void);

#endif
