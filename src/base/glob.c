/* Matches names with shell patterns: see glob.h. */
#include "config.h"
#include "base/glob.h"
#include "base/util.h"

#include <string.h>

/* Returns the end of the bracket set that the pattern begins with; NULL if the bracket is an ordinary character. */
static const char *set_end(const char *pattern)
{
	const char *p = pattern + 1;

	if (*p == ']' || !strncmp(p, "abi:", 4))
		return NULL;
	if (*p == '!' || *p == '^')
		p++;
	/* A closing bracket right after `!` or `^` is a member of the set, and does not end it. */
	if (*p)
		p++;
	p += strcspn(p, "]");
	return *p ? p + 1 : NULL;
}

static bool set_has(const char *set, const char *end, unsigned char byte)
{
	const char *p = set + 1;
	const bool inverted = *p == '!' || *p == '^';
	bool found = false;

	for (p += inverted; p < end - 1; p++) {
		const unsigned char low = (unsigned char)*p;
		unsigned char high = low;

		if (p[1] == '-' && p + 2 < end - 1) {
			high = (unsigned char)p[2];
			p += 2;
		}
		found |= byte >= low && byte <= high;
	}
	return found != inverted;
}

/* If the pattern's first element matches this byte, returns the address after that element, else NULL. */
static const char *match_byte(const char *pattern, char byte)
{
	const char *const end = *pattern == '[' ? set_end(pattern) : NULL;

	if (end)
		return set_has(pattern, end, (unsigned char)byte) ? end : NULL;
	if (*pattern == '?')
		return pattern + 1;
	if (*pattern == '\\' && pattern[1])
		pattern++;
	return *pattern && *pattern == byte ? pattern + 1 : NULL;
}

bool glob_matches(const char *pattern, const char *text)
{
	/* star: the pattern after the last `*`; from: the text after the bytes that this `*` has matched so far */
	const char *star = NULL, *from = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
			continue;
		}
		const char *const next = match_byte(pattern, *text);

		if (next) {
			pattern = next;
			text++;
		} else if (star) {
			/* Elements before the last * need not be tried again, because they have matched as early as
			 * possible. */
			pattern = star;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

size_t glob_literal(const char *pattern)
{
	const char *p = pattern;

	while (*p && *p != '*' && *p != '?' && *p != '\\' && !(*p == '[' && set_end(p)))
		p++;
	return (size_t)(p - pattern);
}

bool glob_is_open(const char *pattern)
{
	for (const char *p = pattern; *p; p++) {
		if (*p == '\\' && p[1]) {
			p++;
		} else if (*p == '[') {
			const char *const end = set_end(p), *const bracket = strchr(p, ']');

			if (!end && !bracket)
				return true;
			p = end ? end - 1 : bracket;
		}
	}
	return false;
}

char *glob_quote(const char *text)
{
	char *const pattern = xmalloc(2 * strlen(text) + 1), *to = pattern;

	for (; *text; text++) {
		if (*text == '*' || *text == '?' || *text == '\\' || (*text == '[' && set_end(text)))
			*to++ = '\\';
		*to++ = *text;
	}
	*to = '\0';
	return pattern;
}
