/* Stands in for the tables of modules and encodings, so that the command line is tested without
 * them. */
#include "config.h"
#include "modules/module.h"
#include "trace/writer.h"

#include <string.h>

struct encoding {
	const char *name;
};

static const struct encoding encodings[] = {{"rtrace"}, {"text"}};
static const struct module modules[] = {{.api = MODULE_API, .name = "memory"}, {.api = MODULE_API, .name = "file"}};

const struct encoding *encoding_find(const char *name)
{
	for (size_t i = 0; i < 2; i++)
		if (!strcmp(encodings[i].name, name))
			return &encodings[i];
	return NULL;
}

const char *encoding_names(void)
{
	return "rtrace, text";
}

const char *encoding_name(const struct encoding *encoding)
{
	return encoding->name;
}

const struct module *module_find(const char *name)
{
	for (size_t i = 0; i < 2; i++)
		if (!strcmp(modules[i].name, name))
			return &modules[i];
	return NULL;
}

const char *module_names(void)
{
	return "memory, file";
}
