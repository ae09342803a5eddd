/* -e: which kinds of resources are traced. */
#ifndef FT_FUNCTRACE_OPTION_MODULES_H
#define FT_FUNCTRACE_OPTION_MODULES_H

#include "functrace/option_values.h"

/* Adds what a word of -e names to the settings: a built-in module, `all` of them (none is added twice), or a file with
 * one of the user's own. `help` prints them and ends the parsing with status 0 (ECANCELED). */
int option_module(struct parse *parse, const char *name);

#endif
