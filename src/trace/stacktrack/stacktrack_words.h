/* Parses the texts of StackTrack entries, which consist of words. Private to trace/. */
#ifndef FT_TRACE_STACKTRACK_STACKTRACK_WORDS_H
#define FT_TRACE_STACKTRACK_STACKTRACK_WORDS_H

#include "base/util.h"
#include "trace/digits.h"
#include "trace/escape.h"

#include <string.h>

/* A word of a text, "key=value" or "key". */
struct word {
	char *key, *value; /* value: "" if the word is only a key */
	size_t key_length;
	bool has_number;
	uint64_t number; /* the value as a number, if has_number */
};

/* Parses a number that ends before a blank or at the end of the text. Returns the address after it; NULL if the text is
 * no such number, or if the number may have more than 64 bits. */
static inline char *take_number_word(char *p, uint64_t *number)
{
	char *const begin = p;

	if (p[0] == '0' && p[1] == 'x') {
		const char *const after = take_hexadecimal(p + 2, number);

		if (!after)
			return NULL;
		p += after - p;
	} else {
		for (*number = 0; *p >= '0' && *p <= '9'; p++)
			*number = *number * 10 + (uint64_t)(*p - '0');
		if (p == begin || p - begin > 18)
			return NULL;
	}
	return !*p || *p == ' ' ? p : NULL;
}

/* Parses the rest of a word, from p on, and sets *at to the next word. Returns false if the word is empty. */
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

/* Parses the next word at *at, writes a NUL after it, and sets *at to the word after it. Returns false at the end of
 * the text. */
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

/* Returns true if the word's key is `text`, a string literal. */
#define word_is(word, text) is_key((word), (text), sizeof(text) - 1)

#endif
