#include "config.h"
#include "modules/conf_parse.h"
#include "modules/known.h"

#include <stdlib.h>
#include <string.h>

/* `flags mode_flags { READ = 1, WRITE = 1 << 1 }`, `enum color { RED, GREEN = 5 }` */

#define WORDS_MAX 1000

const struct conf_words *conf_words_find(const struct conf *conf, const char *name, size_t length)
{
	for (size_t i = 0; i < conf->words_count; i++)
		if (strlen(conf->words[i].name) == length && !memcmp(conf->words[i].name, name, length))
			return &conf->words[i];
	return NULL;
}

/* As C has it: with a 0 before it a number is octal. */
static bool take_plain_number(struct scan *scan, uint64_t *number)
{
	const struct token token = scan->token;

	if (token.kind != TOKEN_NUMBER)
		return scan_error(scan, "%s stands where a number is to be", scan_shown(scan));
	*number = token.number;
	if (token.length > 1 && token.text[0] == '0' && (token.text[1] | 0x20) != 'x') {
		*number = 0;
		for (size_t i = 1; i < token.length; i++) {
			if (token.text[i] > '7' || *number >> 61)
				return scan_error(scan, "%s is no octal number", scan_shown(scan));
			*number = *number << 3 | (uint64_t)(token.text[i] - '0');
		}
	}
	scan_next(scan);
	return true;
}

static bool take_number(struct scan *scan, uint64_t *number)
{
	uint64_t shift;

	if (!take_plain_number(scan, number))
		return false;
	if (!scan_take_sign(scan, "<<"))
		return true;
	if (!take_plain_number(scan, &shift))
		return false;
	if (shift > 63)
		return scan_error(scan, "a number is shifted by 0 to 63");
	*number <<= shift;
	return true;
}

/* `on x86_64 i386` */
static bool take_processors(struct scan *scan, unsigned char *on)
{
	const char *name;
	bool is_one = true;

	for (*on = 0; is_one;) {
		is_one = false;
		for (unsigned bit = 0; (name = module_processor(bit)); bit++)
			if (scan_take_word(scan, name)) {
				*on |= (unsigned char)(1u << bit);
				is_one = true;
			}
	}
	return *on ||
	       scan_error(scan, "%s is no processor; known are x86_64, i386, aarch64 and armv7l", scan_shown(scan));
}

/* `NAME = NUMBER of MASK on PROCESSORS` */
static bool take_word(struct conf *conf, struct scan *scan, bool is_flags, uint64_t *next, struct param_word *word,
		      bool *is_written)
{
	*word = (struct param_word){.name = conf_take_text(conf, scan, "the name of a value")};
	if (!word->name)
		return false;
	*is_written = scan_take_sign(scan, "=");
	if (*is_written) {
		if (!take_number(scan, &word->value))
			return false;
		if (scan_take_word(scan, "of") && !take_number(scan, &word->mask))
			return false;
		if (scan_take_word(scan, "on") && !take_processors(scan, &word->on))
			return false;
	} else if (is_flags) {
		return scan_error(scan, "say which bits '%s' is: %s = 1", word->name, word->name);
	} else {
		word->value = *next;
	}
	if (word->mask && word->value & ~word->mask)
		return scan_error(scan, "'%s' has bits that its mask does not have", word->name);
	*next = word->value + 1;
	return true;
}

/* A name may be there again for other processors, or with another value that is written. */
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

static bool take_list(struct conf *conf, struct scan *scan, struct conf_words *of)
{
	size_t count = 0, capacity = 0;
	uint64_t next = 0;

	do {
		struct param_word word;
		bool is_written;

		if (scan_is_sign(scan, "}"))
			break;
		if (count == WORDS_MAX)
			return scan_error(scan, "an enum has at most %d values", WORDS_MAX);
		if (!take_word(conf, scan, of->is_flags, &next, &word, &is_written))
			return false;
		if (is_twice(of, count, &word, is_written))
			return scan_error(scan, "two values are called '%s'", word.name);
		ARRAY_GROW(of->words, capacity, count);
		of->words[count++] = word;
	} while (scan_take_sign(scan, ","));
	if (!scan_take_sign(scan, "}"))
		return scan_error(scan, "%s stands where a ',' or the '}' behind the last value is to be",
				  scan_shown(scan));
	scan_take_sign(scan, ";");
	if (scan->token.kind != TOKEN_END)
		return scan_error(scan, "%s stands behind the '}'", scan_shown(scan));
	ARRAY_GROW(of->words, capacity, count);
	of->words[count] = (struct param_word){.name = NULL};
	return count || scan_error(scan, "an enum without values says nothing");
}

bool conf_take_words(struct conf *conf, struct scan *scan, bool is_flags)
{
	struct conf_words of = {.is_flags = is_flags};
	const struct token name = scan->token;

	if (name.kind != TOKEN_WORD || !conf_is_c_name(&name))
		return scan_error(scan, "%s is no name of a type: flags mode_flags { READ = 1 }", scan_shown(scan));
	if (conf_words_find(conf, name.text, name.length))
		return scan_error(scan, "%s is described already", scan_shown(scan));
	of.name = conf_keep(conf, name.text, name.length);
	scan_next(scan);
	if (!scan_take_sign(scan, "{"))
		return scan_error(scan, "%s stands where the '{' before the values is to be", scan_shown(scan));
	if (!take_list(conf, scan, &of) || scan->failed) {
		free(of.words);
		return false;
	}
	ARRAY_GROW(conf->words, conf->words_capacity, conf->words_count);
	conf->words[conf->words_count++] = of;
	return true;
}
