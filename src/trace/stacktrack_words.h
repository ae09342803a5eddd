/* The words of which the texts of StackTrack entries are made.  Private to trace/. */
#ifndef FT_TRACE_STACKTRACK_WORDS_H
#define FT_TRACE_STACKTRACK_WORDS_H

#include "base/util.h"
#include "trace/text.h"

#include <string.h>

/* The next word, "key=value" or "key", of a text that is taken apart; NULL at its end. */
struct word {
	char *key, *value; /* value: "" if there is none */
};

static inline bool next_word(char **at, struct word *word)
{
	bool has_escapes = false;
	char *p = *at;

	while (*p == ' ')
		p++;
	*word = (struct word){p, NULL};
	for (; *p && *p != ' '; p++) {
		has_escapes |= *p == '\\';
		if (*p != '=' || word->value)
			continue;
		*p = '\0';
		word->value = p + 1;
	}
	if (p == word->key)
		return false;
	if (!word->value)
		word->value = p;
	*at = p + (*p == ' ');
	*p = '\0';
	if (has_escapes) {
		text_unescape(word->key, " =");
		text_unescape(word->value, " ");
	}
	return true;
}

static inline uint64_t word_number(const struct word *word)
{
	uint64_t value = 0;

	parse_number(word->value, UINT64_MAX, &value);
	return value;
}

static inline bool is(const struct word *word, const char *key)
{
	return *word->key == *key && !strcmp(word->key, key);
}

#endif
