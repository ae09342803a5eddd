/* --scan and what goes with it. */
#ifndef FT_FUNCTRACE_OPTION_SCAN_H
#define FT_FUNCTRACE_OPTION_SCAN_H

#include "functrace/option_values.h"

#include <argp.h>

/* A child of the program's parser; its input is the struct parse. */
extern const struct argp option_scan_argp;
/* Whether it goes with tracing: a program, a report or something that is chosen is given. */
bool option_scan_is_beside(const struct settings *settings);
/* Whether anything that is traced has blocks of a heap. */
bool option_scan_has_heap(const struct settings *settings);
/* When --scan alone has no conflict with other options: takes over what --interval, --count, --top and
 * --error-exitcode say. 0, or what usage_error() returns. */
int option_scan_alone(struct parse *parse);
/* When the format is known, too, and tracing has no conflict with --scan: whether a scan, or one that is part of a
 * report, is made at the end. is_compat: of --compat. */
void option_scan_beside(struct settings *settings, bool is_compat);
void option_scan_free(struct settings *settings);

#endif
