/* The options of --watch. */
#ifndef FT_FUNCTRACE_OPTION_WATCH_H
#define FT_FUNCTRACE_OPTION_WATCH_H

#include "functrace/option_values.h"

#include <argp.h>

/* The options, and their parser, for options.c. */
extern const struct argp option_watch_argp;
/* To be called when all options are known. With --watch, checks the options and sets those that it implies. Returns 0,
 * or what usage_error() returns. */
int option_watch_end(struct parse *parse);

#endif
