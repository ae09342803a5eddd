/* What rows of functrace's own modules cannot say: code that descriptions name, `code=NAME`. */
#ifndef FT_MODULES_ROW_CODE_H
#define FT_MODULES_ROW_CODE_H

#include "modules/module.h"

typedef bool row_code_look(const struct module_call *call, struct module_details *details);

/* The function of that name for struct function's `look`, and its `looks_again`; NULL: there is none. */
row_code_look *row_code(const char *name, size_t length, bool *looks_again);

/* row_code_file.c: descriptors that come in a message, in several, and the two ends of a terminal. */
row_code_look row_code_message, row_code_messages, row_code_terminal;
/* row_code_gobject.c */
row_code_look row_code_object, row_code_type;

#endif
