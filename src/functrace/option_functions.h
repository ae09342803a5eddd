/* -x, --context-function: functions that the user names. Each option has one module for its functions. */
#ifndef FT_FUNCTRACE_OPTION_FUNCTIONS_H
#define FT_FUNCTRACE_OPTION_FUNCTIONS_H

#include "functrace/option_values.h"

/* Adds the functions of a list, NAME;NAME@OBJECT;OBJECT!0xOFFSET;NAME=ADDRESS;@FILE, to the module settings->chosen,
 * and creates the module first if there is none yet. Returns 0, or what usage_error() returns; a message about a file
 * contains the line number. */
int option_functions(struct parse *parse, const char *list);
/* Like option_functions(), but for the module settings->contexts, which can have at most TRACE_CONTEXTS functions. */
int option_contexts(struct parse *parse, const char *list);
/* Adds the module of -x, if there is one, after the modules of -e. */
void option_functions_end(struct parse *parse);
/* Frees a module that was created for these functions; NULL is allowed. */
void option_functions_free(const struct module *module);

#endif
