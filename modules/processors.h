/* Names of the processors in descriptions. */
#ifndef FT_MODULES_PROCESSORS_H
#define FT_MODULES_PROCESSORS_H

#include <stdbool.h>

/* Returns the name of the processor with the bit 1 << bit in enum processor; NULL after the last. */
const char *module_processor(unsigned bit);

#define PROCESSORS_TEXT 128
/* Writes the names of all processors to `text`, or only of those whose programs have all arguments on the stack:
 * "a, b and c". Returns `text`. */
const char *module_processors_text(char text[PROCESSORS_TEXT], bool with_args_on_stack);

#endif
