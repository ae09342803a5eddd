/* Code for what the rows of built-in modules cannot say. Descriptions name it by `code=NAME`. */
#ifndef FT_MODULES_ROW_CODE_H
#define FT_MODULES_ROW_CODE_H

#include "modules/module.h"

typedef bool row_code_look(const struct module_call *call, struct module_details *details);

/* Returns the function of that name, for the `look` of a struct function, and sets *looks_again for it. NULL: none. */
row_code_look *row_code(const char *name, size_t length, bool *looks_again);

/* row_code_file.c: descriptors in one message, in several messages, and the two ends of a terminal. */
row_code_look row_code_message, row_code_messages, row_code_terminal;
/* row_code_gobject.c */
row_code_look row_code_object, row_code_type;

#endif
