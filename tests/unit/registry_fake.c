/* Replaces the tables of modules and encodings, so that the command line is tested without them, and with formats that
 * lack functions. */
#include "config.h"
#include "modules/known.h"
#include "trace/encoding_ops.h"
#include "trace/event.h"

#include <string.h>

static const struct writer_ops no_writer;
static const struct reader_ops no_reader;

static const struct encoding text_compat = {
	"text", "", &no_writer, &no_reader, ENCODING_STREAM | ENCODING_SCANS, .is_compat = true};
const struct encoding encodings[] = {
	{"rtrace", "", &no_writer, &no_reader, ENCODING_BINARY | ENCODING_STREAM | ENCODING_COMPAT | ENCODING_SCANS,
	 NULL, false},
	{"text", "", &no_writer, &no_reader, ENCODING_STREAM | ENCODING_COMPAT | ENCODING_NAMES | ENCODING_SCANS,
	 &text_compat, false},
	{"plain", "", &no_writer, &no_reader, ENCODING_STREAM | ENCODING_CYCLES, NULL, false},
	{"profile", "", &no_writer, NULL, 0, NULL, false},
	{"foreign", "", NULL, &no_reader, 0, NULL, false},
};
const size_t encoding_count = 5;

static const struct resource blocks[] = {{.type = "memory", .noun = "block"}};
static const struct resource files[] = {{.type = "fd", .noun = "descriptor"}};
static const struct resource calls[] = {{.type = "visit", .noun = "visit", .flags = RESOURCE_CALL}};

static const struct module modules[] = {
	{.api = MODULE_API, .name = "memory", .summary = "blocks", .resources = blocks, .resource_count = 1},
	{.api = MODULE_API, .name = "visits", .summary = "calls", .resources = calls, .resource_count = 1},
	{.api = MODULE_API, .name = "file", .summary = "descriptors", .resources = files, .resource_count = 1},
};

const struct module *module_known(size_t index)
{
	return index < 3 ? &modules[index] : NULL;
}

const struct module *module_find(const char *name)
{
	for (size_t i = 0; i < 3; i++)
		if (!strcmp(modules[i].name, name))
			return &modules[i];
	return NULL;
}

const char *module_names(void)
{
	return "memory, visits, file";
}
