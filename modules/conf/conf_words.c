#include "config.h"
#include "modules/conf/conf_parse.h"
#include "modules/check.h"
#include "modules/processors.h"

#include <stdlib.h>
#include <string.h>

/* Parses `flags mode_flags { READ = 1, WRITE = 1 << 1 }`, `enum color { RED, GREEN = 5 }`, and unions. The type of a
 * union depends on another parameter: `union argument : hex size_t { 1: int, 2: mode_flags }` */

/* Parses the names after `on`: `on x86_64 i386` */
static bool take_processors(struct lexer *lexer, unsigned char *on)
{
	char known[PROCESSORS_TEXT];
	const char *name;
	bool is_one = true;

	for (*on = 0; is_one;) {
		is_one = false;
		for (unsigned bit = 0; (name = module_processor(bit)); bit++)
			if (lexer_take_word(lexer, name)) {
				*on |= (unsigned char)(1u << bit);
				is_one = true;
			}
	}
	return *on || lexer_error(lexer, "%s is no processor; known are %s", lexer_shown(lexer),
				  module_processors_text(known, false));
}

/* Parses `NAME = NUMBER of MASK on PROCESSORS` */
static bool conf_words_take_word(struct conf *conf, struct lexer *lexer, bool is_flags, uint64_t *next,
				 struct param_word *word, bool *is_written)
{
	*word = (struct param_word){.name = conf_take_text(conf, lexer, "the name of a value")};
	if (!word->name)
		return false;
	*is_written = lexer_take_sign(lexer, "=");
	if (*is_written) {
		if (!lexer_take_number(lexer, &word->value))
			return false;
		if (lexer_take_word(lexer, "of") && !lexer_take_number(lexer, &word->mask))
			return false;
		if (lexer_take_word(lexer, "on") && !take_processors(lexer, &word->on))
			return false;
	} else if (is_flags) {
		return lexer_error(lexer, "the bits of '%s' are missing: write %s = 1", word->name, word->name);
	} else {
		word->value = *next;
	}
	if (word->mask && word->value & ~word->mask)
		return lexer_error(lexer, "'%s' has bits that its mask does not have", word->name);
	*next = word->value + 1;
	return true;
}

/* Returns true if an earlier value has the same name as `word`, and that is an error. It is no error if the two values
 * are for different processors. Nor is it an error if the file gives the number of `word` (is_written), and the earlier
 * value has another number. */
static bool is_twice(const struct conf_words *of, size_t count, const struct param_word *word, bool is_written)
{
	for (size_t i = 0; i < count; i++) {
		const struct param_word *other = &of->words[i];

		if (!strcmp(other->name, word->name) && (!other->on || !word->on || other->on & word->on) &&
		    (!is_written || other->value == word->value))
			return true;
	}
	return false;
}

static bool take_closing(struct lexer *lexer)
{
	if (!lexer_take_sign(lexer, "}"))
		return lexer_error(lexer, "found %s where ',' or the '}' after the last value is expected",
				   lexer_shown(lexer));
	lexer_take_sign(lexer, ";");
	return lexer->token.kind == TOKEN_END || lexer_error(lexer, "found %s after the '}'", lexer_shown(lexer));
}

static bool conf_words_take_list(struct conf *conf, struct lexer *lexer, struct conf_words *of, bool is_flags)
{
	size_t count = 0, capacity = 0;
	uint64_t next = 0;

	do {
		struct param_word word;
		bool is_written;

		if (lexer_is_sign(lexer, "}"))
			break;
		if (count == MODULE_WORDS_MAX)
			return lexer_error(lexer, "an enum has at most %d values", MODULE_WORDS_MAX);
		if (!conf_words_take_word(conf, lexer, is_flags, &next, &word, &is_written))
			return false;
		if (is_twice(of, count, &word, is_written))
			return lexer_error(lexer, "two values are called '%s'", word.name);
		ARRAY_GROW(of->words, capacity, count);
		of->words[count++] = word;
	} while (lexer_take_sign(lexer, ","));
	ARRAY_GROW(of->words, capacity, count);
	of->words[count] = (struct param_word){.name = NULL};
	of->use.words = of->words;
	return take_closing(lexer) && (count || lexer_error(lexer, "the enum has no values"));
}

/* Parses the name of the type, and, after a ':', the underlying type. */
static bool take_head(struct conf *conf, struct lexer *lexer, struct conf_words *of, bool *has_type)
{
	const struct token name = lexer->token;

	if (name.kind != TOKEN_WORD || !conf_is_c_name(&name))
		return lexer_error(lexer, "%s is no name of a type: flags mode_flags { READ = 1 }", lexer_shown(lexer));
	if (conf_words_find(conf, name.text, name.length))
		return lexer_error(lexer, "%s is described already", lexer_shown(lexer));
	of->name = (struct conf_name){conf_keep(conf, name.text, name.length), name.length};
	lexer_next(lexer);
	*has_type = lexer_take_sign(lexer, ":");
	if (*has_type && !conf_take_shown_type(lexer, &of->use))
		return false;
	return lexer_take_sign(lexer, "{") ||
	       lexer_error(lexer, "found %s where the '{' before the values is expected", lexer_shown(lexer));
}

/* Returns true if values of a type can have names. */
static bool takes_words(const struct ctype_use *use)
{
	return !use->words && !use->cases &&
	       ((use->type >= C_INT8 && use->type <= C_UWORD) || use->param == PARAM_POINTER ||
		use->param == PARAM_FUNCTION);
}

/* Sets how a value of an enum or of flags is shown if it has no name. Returns false after an error. */
static bool settle_type(struct lexer *lexer, struct ctype_use *use, bool is_flags, bool has_type)
{
	const struct ctype_use of = *use;

	*use = (struct ctype_use){.type = C_INT, .param = is_flags ? PARAM_FLAGS : PARAM_INT};
	if (!has_type)
		return true;
	if (is_flags) {
		use->param = PARAM_FLAGS_MODE;
		return of.param == PARAM_OCTAL ||
		       lexer_error(lexer, "flags have type int or mode_t; mode_t shows bits without a name as an "
					  "octal number");
	}
	*use = of;
	if (of.type == C_INT && of.param == PARAM_HEX)
		use->param = PARAM_WORD;
	return takes_words(&of) ||
	       lexer_error(lexer, "the type of an enum must be an integer, a pointer or a pointer to a function");
}

/* Adds the description to the conf if it is right; otherwise frees it. */
static bool keep_described(struct conf *conf, struct lexer *lexer, struct conf_words *of, bool is_right)
{
	if (!is_right || lexer->failed) {
		free(of->words);
		free(of->cases);
		return false;
	}
	ARRAY_GROW(conf->words, conf->words_capacity, conf->words_count);
	conf->words[conf->words_count++] = *of;
	return true;
}

bool conf_take_words(struct conf *conf, struct lexer *lexer, bool is_flags)
{
	struct conf_words of = {0};
	bool has_type;

	return keep_described(conf, lexer, &of,
			      take_head(conf, lexer, &of, &has_type) &&
				      settle_type(lexer, &of.use, is_flags, has_type) &&
				      conf_words_take_list(conf, lexer, &of, is_flags));
}

/* Parses `2 of 3: mode_flags` */
static bool take_case(struct lexer *lexer, struct param_case *of)
{
	struct ctype_use use;

	*of = (struct param_case){.type = PARAM_END};
	if (!lexer_take_number(lexer, &of->value))
		return false;
	if (lexer_take_word(lexer, "of") && !lexer_take_number(lexer, &of->mask))
		return false;
	if (!lexer_take_sign(lexer, ":"))
		return lexer_error(lexer, "found %s where ':' and a type are expected", lexer_shown(lexer));
	if (!conf_take_shown_type(lexer, &use))
		return false;
	of->type = use.type == C_VOID ? PARAM_NONE : use.param == PARAM_SOCKADDR ? PARAM_POINTER : use.param;
	of->words = use.words;
	return (of->type && use.type != C_STRUCT && !use.cases) ||
	       lexer_error(lexer, "a union has only numbers and pointers, and this type is neither");
}

bool conf_take_union(struct conf *conf, struct lexer *lexer)
{
	struct conf_words of = {0};
	size_t count = 0, capacity = 0;
	bool has_type, is_right = take_head(conf, lexer, &of, &has_type);

	if (is_right && !(has_type && takes_words(&of.use)))
		is_right = lexer_error(lexer, "the type for all other values is missing: write union argument : int");
	while (is_right && !lexer_is_sign(lexer, "}")) {
		struct param_case one;

		if (count == MODULE_WORDS_MAX)
			is_right = lexer_error(lexer, "a union has at most %d values", MODULE_WORDS_MAX);
		is_right = is_right && take_case(lexer, &one);
		ARRAY_GROW(of.cases, capacity, count);
		of.cases[count++] = one;
		if (!lexer_take_sign(lexer, ","))
			break;
	}
	is_right = is_right && take_closing(lexer);
	ARRAY_GROW(of.cases, capacity, count);
	of.cases[count] = (struct param_case){.type = PARAM_END};
	of.use.cases = of.cases;
	return keep_described(conf, lexer, &of, is_right);
}
