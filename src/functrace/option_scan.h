/* --scan and its options. */
#ifndef FT_FUNCTRACE_OPTION_SCAN_H
#define FT_FUNCTRACE_OPTION_SCAN_H

#include "functrace/option_values.h"

#include <argp.h>

/* A child of the program's argp parser; its input is the struct parse. */
extern const struct argp option_scan_argp;
/* Whether --scan goes with tracing: a program, a report or something to trace is given too. */
bool option_scan_with_tracing(const struct settings *settings);
/* Whether a traced kind has blocks of a heap. */
bool option_scan_has_heap(const struct settings *settings);
/* Prepares a scan without tracing, after its options were found free of conflicts: takes over the values of
 * --interval, --count, --top and --error-exitcode, which were kept for the report. Returns 0, or what usage_error()
 * returns. */
int option_scan_alone(struct parse *parse);
/* Decides whether a run that traces ends with a scan, for --scan or as a part of the report. To be called when the
 * format is known and the options are free of conflicts. is_compat: --compat is given. */
void option_scan_beside(struct settings *settings, bool is_compat);
void option_scan_free(struct settings *settings);

#endif
