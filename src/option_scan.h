/* --scan and what goes with it. */
#ifndef FT_OPTION_SCAN_H
#define FT_OPTION_SCAN_H

#include "option_values.h"

#include <argp.h>

/* A child of the program's parser; its input is the struct parse. */
extern const struct argp option_scan_argp;
/* Whether it goes with tracing: a program, a report or something that is chosen is given. */
bool option_scan_is_beside(const struct settings *settings);
/* When all options are known, and --scan alone is one of them: whether they go together; takes over what --interval,
 * --count, --top and --error-exitcode say. 0, or what usage_error() returns. */
int option_scan_check(struct parse *parse);
/* When the format is known, too: whether --scan goes together with tracing, or, without it, is part of a report. */
int option_scan_beside_check(struct parse *parse);
/* The same of --repair. */
int option_repair_check(struct parse *parse);
void option_scan_free(struct settings *settings);

#endif
