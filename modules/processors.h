/* The processors that rows name. */
#ifndef FT_MODULES_PROCESSORS_H
#define FT_MODULES_PROCESSORS_H

/* The name of the processor whose bit of enum processor is 1 << bit; NULL after the last. */
const char *module_processor(unsigned bit);

#endif
