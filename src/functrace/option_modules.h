/* -e: the kinds of resources that are traced. */
#ifndef FT_FUNCTRACE_OPTION_MODULES_H
#define FT_FUNCTRACE_OPTION_MODULES_H

#include "functrace/option_values.h"

/* Adds the modules that a word of -e names to the settings: a built-in module, `all` of these, or a file that
 * describes or contains one. A module is added once. `help` and `help=NAME` print texts and end the parsing with
 * ECANCELED and status 0. Returns 0, ECANCELED, or EINVAL after a message. */
int option_module(struct parse *parse, const char *name);

#endif
