/* --scan and its options. */
#ifndef FT_FUNCTRACE_OPTION_SCAN_H
#define FT_FUNCTRACE_OPTION_SCAN_H

#include "functrace/option_values.h"

#include <argp.h>

/* A child of the program's argp parser; its input is a struct parse. */
extern const struct argp option_scan_argp;
/* Returns true if --scan is combined with tracing: a program, a report, -e or -x is also given, and --core is not. */
bool option_scan_with_tracing(const struct settings *settings);
/* Returns true if a traced kind of resource is the blocks of a heap. */
bool option_scan_has_heap(const struct settings *settings);
/* Prepares a scan without tracing: copies the values of --interval, --count, --top and --error-exitcode, which were
 * stored for the report. Called when the options are free of conflicts. Returns 0, or what usage_error() returns. */
int option_scan_alone(struct parse *parse);
/* Sets whether tracing ends with a scan, because of --scan or for the report. Called when the format is known and the
 * options are free of conflicts. is_compat: --compat is given. */
void option_scan_beside(struct settings *settings, bool is_compat);
void option_scan_free(struct settings *settings);

#endif
