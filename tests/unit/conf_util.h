/* Functions for the tests of described modules. */
#ifndef CONF_UTIL_H
#define CONF_UTIL_H

#include "modules/conf/conf.h"
#include "modules/check.h"
#include "unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct conf *conf;
static struct buf said;

/* Returns the module that the text describes; returns NULL if the text is refused, with the reasons in `said`. */
static const struct module *parse_bytes(const char *text, size_t size)
{
	/* The copy has exactly the text's size, so that a sanitizer reports reads after the end. */
	char *const copy = malloc(size ? size : 1);

	if (conf)
		conf_free(conf);
	said.size = 0;
	memcpy(copy, text, size);
	conf = conf_parse("d/own.conf", copy, size, &said);
	free(copy);
	if (!conf && !said.size)
		fail_msg("refused without a word: %s", text);
	if (!conf)
		return NULL;
	struct buf why = {0};

	/* module_check(), which module_load() applies to shared objects, must also accept each module that a
	 * description makes. */
	if (!module_check(conf_module(conf), &why))
		fail_msg("%s: %s", text, buf_str(&why));
	buf_free(&why);
	return conf_module(conf);
}

static const struct module *parse(const char *text)
{
	return parse_bytes(text, strlen(text));
}

static const struct module *parsed(const char *text)
{
	const struct module *const module = parse(text);

	if (!module)
		fail_msg("refused: %s", buf_str(&said));
	return module;
}

static inline void parse_done(void)
{
	if (conf)
		conf_free(conf);
	buf_free(&said);
}

#endif
