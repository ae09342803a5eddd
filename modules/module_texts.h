/* The descriptions that functrace has: its modules, and what these share, in the language of conf.h. */
#ifndef FT_MODULES_MODULE_TEXTS_H
#define FT_MODULES_MODULE_TEXTS_H

#include <stddef.h>

struct module_text {
	const char *name, *text; /* modules/tables/NAME.conf */
};

#define MODULE_TEXTS_MAX 16

extern const struct module_text module_texts[];

/* The index of the text of that name; -1: there is none. */
int module_text_find(const char *name);

#endif
