/* -e: the kinds of resources that are traced. */
#ifndef FT_FUNCTRACE_OPTION_MODULES_H
#define FT_FUNCTRACE_OPTION_MODULES_H

#include "functrace/option_values.h"

/* Adds to the settings the modules that a word of -e names: a built-in module, `all` of them that have live resources,
 * or a file with a description (.conf) or a shared object (.so). A module that is there already is not added again.
 * `help` and `help=NAME` print texts, set status 0 and return ECANCELED, which ends the parsing. Returns 0, ECANCELED,
 * or EINVAL after a message. */
int option_module(struct parse *parse, const char *name);

#endif
