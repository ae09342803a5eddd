/* Parses the words of the texts of StackTrack entries. Private to trace/. */
#ifndef FT_TRACE_STACKTRACK_STACKTRACK_WORDS_H
#define FT_TRACE_STACKTRACK_STACKTRACK_WORDS_H

#include "base/util.h"
#include "trace/digits.h"
#include "trace/escape.h"

#include <string.h>

/* A word of a text, "key=value" or "key". */
struct word {
	char *key, *value; /* value: "" if there is none */
	size_t key_length;
	bool has_number;
	uint64_t number; /* the value, if it is a number, as most are */
};

/* Parses a number up to a blank or the end. Returns where it ends; NULL if it is something else, or might have more
 * than 64 bits. */
static inline char *take_number_word(char *p, uint64_t *number)
{
	char *const begin = p;

	if (p[0] == '0' && p[1] == 'x') {
		const char *const behind = take_hexadecimal(p + 2, number);

		if (!behind)
			return NULL;
		p += behind - p;
	} else {
		for (*number = 0; *p >= '0' && *p <= '9'; p++)
			*number = *number * 10 + (uint64_t)(*p - '0');
		if (p == begin || p - begin > 18)
			return NULL;
	}
	return !*p || *p == ' ' ? p : NULL;
}

/* Parses the rest of a word, from p on. Returns false if the word is empty. */
static inline bool end_word(char **at, char *p, struct word *word)
{
	bool has_escapes = false;

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
	word->key_length = strlen(word->key);
	return true;
}

/* Takes the next word of the text at *at, which is changed, and moves *at after it. Returns false at the end. */
static inline bool next_word(char **at, struct word *word)
{
	char *p = *at, *end;

	while (*p == ' ')
		p++;
	*word = (struct word){.key = p};
	while (*p >= 'a' && *p <= 'z')
		p++;
	end = *p == '=' ? take_number_word(p + 1, &word->number) : NULL;
	if (!end)
		return end_word(at, word->key, word);
	*p = '\0';
	word->key_length = (size_t)(p - word->key);
	word->value = p + 1;
	word->has_number = true;
	*at = end + (*end == ' ');
	*end = '\0';
	return true;
}

static inline uint64_t word_number(const struct word *word)
{
	uint64_t value = 0;

	if (word->has_number)
		return word->number;
	parse_number(word->value, UINT64_MAX, &value);
	return value;
}

static inline bool is_key(const struct word *word, const char *key, size_t length)
{
	return word->key_length == length && !memcmp(word->key, key, length);
}

/* Returns whether the word's key is this one, whose length the compiler knows. */
#define word_is(word, text) is_key((word), (text), sizeof(text) - 1)

#endif
