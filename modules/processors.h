/* Names of the processors in descriptions. */
#ifndef FT_MODULES_PROCESSORS_H
#define FT_MODULES_PROCESSORS_H

/* Returns the name of the processor with the bit 1 << bit in enum processor; NULL after the last. */
const char *module_processor(unsigned bit);

#define PROCESSORS_TEXT 64
/* Writes the names of all processors to `text`: "a, b and c". Returns `text`. */
const char *module_processors_text(char text[PROCESSORS_TEXT]);

#endif
