/* Tests the reader of modules' descriptions (.conf files): it must turn any bytes into a valid module, or into a
 * message that says what is wrong, in bounded memory. */
#include "config.h"
#include "modules/conf/conf.h"
#include "modules/check.h"
#include "fuzz.h"

#include <string.h>

/* Returns true if a terminal would print the text, and interpret no character of it. */
static bool is_printable(const char *text)
{
	for (; *text; text++)
		if (((unsigned char)*text < ' ' && *text != '\n') || *text == 0x7f)
			return false;
	return true;
}

static void check_text(const char *text)
{
	check(!text || (is_printable(text) && !strchr(text, '\n')), "a text is printable");
}

static void check_texts(const struct module *module)
{
	for (size_t i = 0; i < module->resource_count; i++) {
		check_text(module->resources[i].desc);
		check_text(module->resources[i].noun);
		check_text(module->resources[i].unit);
		check_text(module->resources[i].left);
	}
	for (size_t i = 0; i < module->function_count; i++) {
		const struct function *const f = &module->functions[i];

		check_text(f->symbol);
		check_text(f->name);
		check_text(f->family);
		for (size_t j = 0; j < FUNCTION_PARAMS && f->params[j].type; j++) {
			check(f->params[j].name && *f->params[j].name, "a parameter has a name");
			check_text(f->params[j].name);
		}
	}
	check_text(module->summary);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct buf said = {0}, why = {0};
	struct conf *const conf = conf_parse("fuzz.conf", (const char *)data, size, &said);

	check(!conf == !!said.size, "it is refused with a reason, or accepted without one");
	check(is_printable(buf_str(&said)), "the reason is printable");
	check(strlen(buf_str(&said)) == said.size && said.size < 64 * 1024, "the reason is of no great length");
	if (conf) {
		if (!module_check(conf_module(conf), &why))
			check(false, buf_str(&why));
		check_texts(conf_module(conf));
		conf_free(conf);
	}
	buf_free(&said);
	buf_free(&why);
	return 0;
}
