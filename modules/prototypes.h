/* The prototypes of functions of the C library that are about no resource, for -a of those that are chosen by -x.
 *
 * Names and types are those of POSIX and of the Linux manual pages; of printf() and its like only what stands before
 * the arguments that the format tells is known. Each table ends with a row without a symbol. */
#ifndef FT_MODULES_PROTOTYPES_H
#define FT_MODULES_PROTOTYPES_H

#include "modules/module.h"

extern const struct function prototypes_file[], prototypes_process[], prototypes_text[];

#endif
