#include "config.h"
#include "modules/module_texts.h"

#include <string.h>

/* modules/local.mk generates the array's elements from the files in tables/. */
const struct module_text module_texts[] = {
#include "modules/module_texts.inc"
	{NULL, NULL},
};

_Static_assert(sizeof(module_texts) / sizeof(module_texts[0]) <= MODULE_TEXTS_MAX + 1, "there is room for each");

int module_text_find(const char *name)
{
	for (int i = 0; module_texts[i].name; i++)
		if (!strcmp(module_texts[i].name, name))
			return i;
	return -1;
}
