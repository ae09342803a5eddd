/* -x, --context-function: functions of the user's choice, which become a module of their own. */
#ifndef FT_FUNCTRACE_OPTION_FUNCTIONS_H
#define FT_FUNCTRACE_OPTION_FUNCTIONS_H

#include "functrace/option_values.h"

/* Adds the functions of a list, NAME;NAME@OBJECT;OBJECT!0xOFFSET;NAME=ADDRESS;@FILE, to the module settings->chosen,
 * which is made with the first. 0, or what usage_error() returns: in a file it is told which line is wrong. */
int option_functions(struct parse *parse, const char *list);
/* The same for settings->contexts, which has at most TRACE_CONTEXTS. */
int option_contexts(struct parse *parse, const char *list);
/* Adds the module of -x, if there is one, behind those of -e. */
void option_functions_end(struct parse *parse);
/* Frees such a module; NULL is allowed. */
void option_functions_free(const struct module *module);

#endif
