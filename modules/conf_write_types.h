/* The types of parameters in the words of a description. */
#ifndef FT_MODULES_CONF_WRITE_TYPES_H
#define FT_MODULES_CONF_WRITE_TYPES_H

#include "base/buf.h"
#include "modules/module.h"

#define WORD_TABLES 64
#define WORD_NAME   64

/* What a module's tables of words are called in its description. */
struct word_names {
	size_t count;
	struct {
		const struct param_word *words;
		char name[WORD_NAME];
	} tables[WORD_TABLES];
};

/* Names all tables of the module's rows, and writes them. */
void conf_write_words(const struct module *module, struct word_names *names, struct buf *text);
void conf_write_number(struct buf *text, uint64_t number);
/* The declaration of the parameter under that name: `const char *path`; of a result that of the function, up to its
 * name. */
void conf_write_param(const struct word_names *names, const struct param *param, const char *name, struct buf *text);
/* The value_type of what is declared like that; of what it points to, -1 if that has none. */
unsigned conf_param_type(const struct param *param);
int conf_param_pointee(const struct param *param);

#endif
