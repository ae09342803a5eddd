/* Functions that do what the tables of built-in modules cannot describe. A description names such a function by
 * `code=NAME`. */
#ifndef FT_MODULES_ROW_CODE_H
#define FT_MODULES_ROW_CODE_H

#include "modules/module.h"

typedef bool row_code_look(const struct module_call *call, struct module_details *details);

/* Returns the function with that name, for `look` in struct function, and sets *looks_again for it. Returns NULL if
 * there is no such function. */
row_code_look *row_code(const char *name, size_t length, bool *looks_again);

/* In row_code_file.c: find descriptors in one message, in several messages, and those of the two ends of a terminal. */
row_code_look row_code_message, row_code_messages, row_code_terminal;
/* In row_code_gobject.c: finds the type of an object; stores the name of a type. */
row_code_look row_code_object, row_code_type;

#endif
