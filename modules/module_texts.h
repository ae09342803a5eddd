/* The descriptions that are built into functrace, in the language that conf.h reads: the descriptions of its modules,
 * and texts that these include. */
#ifndef FT_MODULES_MODULE_TEXTS_H
#define FT_MODULES_MODULE_TEXTS_H

#include <stddef.h>

struct module_text {
	const char *name, *text; /* NAME and contents of modules/tables/NAME.conf */
};

#define MODULE_TEXTS_MAX 16

extern const struct module_text module_texts[];

/* Returns the index of the text with this name, or -1. */
int module_text_find(const char *name);

#endif
