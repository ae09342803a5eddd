#include "config.h"
#include "modules/builtin.h"
#include "modules/conf/conf.h"
#include "modules/module_texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads a description that is built into functrace. An error ends the program. In a tested program no error can occur,
 * because the tests (tests/unit/conf_errors and params) read every description. */
static struct conf *read_description(const struct module_text *text)
{
	struct buf said = {0};
	struct conf *const conf = conf_parse(text->name, text->text, strlen(text->text), &said);

	if (!conf) {
		fprintf(stderr, "%s\n", buf_str(&said));
		abort();
	}
	buf_free(&said);
	return conf;
}

const struct module *builtin_module(const char *name)
{
	static struct conf *confs[MODULE_TEXTS_MAX];
	const int index = module_text_find(name);
	struct conf *conf = __atomic_load_n(&confs[index], __ATOMIC_ACQUIRE), *first = NULL;

	if (conf)
		return conf_module(conf);
	conf = read_description(&module_texts[index]);
	/* Two threads: A reads the text | B reads the text | A stores its module here | B finds A's module, and frees
	 * its own */
	if (!__atomic_compare_exchange_n(&confs[index], &first, conf, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		conf_free(conf);
		conf = first;
	}
	return conf_module(conf);
}
