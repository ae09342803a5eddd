#include "config.h"
#include "report/shorten.h"

#include <stdbool.h>
#include <string.h>

#define DOTS "..."
enum { DOTS_LENGTH = 3, NAME_MIN = 12 };

static void replace_by_dots(struct buf *line, size_t from, size_t to)
{
	memcpy(line->data + from, DOTS, DOTS_LENGTH);
	memmove(line->data + from + DOTS_LENGTH, line->data + to, line->size - to);
	line->size -= to - from - DOTS_LENGTH;
}

/* Returns true if the bracket at index `at` is part of an operator's name. */
static bool is_operator(const unsigned char *text, size_t begin, size_t at)
{
	static const char *const before[] = {
		"operator<", "operator<<", "operator>", "operator>>", "operator<=>", "operator(", "operator()",
	};

	if (text[at] == '>' && at > begin && text[at - 1] == '-')
		return true;
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		const size_t length = strlen(before[i]);

		if (at + 1 - begin >= length && !memcmp(text + at + 1 - length, before[i], length))
			return true;
	}
	return false;
}

/* Finds the longest text between two brackets. Returns false if none is longer than "...". */
static bool longest_between(const struct buf *line, size_t begin, size_t end, char open, char close, size_t *from,
			    size_t *to)
{
	size_t depth = 0, first = 0, longest = DOTS_LENGTH;

	for (size_t i = begin; i < end; i++) {
		const char c = (char)line->data[i];

		if ((c != open && c != close) || is_operator(line->data, begin, i))
			continue;
		if (c == open && !depth++)
			first = i + 1;
		else if (c == close && depth && !--depth && i - first > longest) {
			longest = i - first;
			*from = first;
			*to = i;
		}
	}
	return longest > DOTS_LENGTH;
}

static bool is_within_character(const struct buf *line, size_t at)
{
	return at < line->size && (line->data[at] & 0xc0) == 0x80;
}

static void cut_middle(struct buf *line, size_t begin, size_t end, size_t wanted)
{
	const size_t kept = (wanted > NAME_MIN ? wanted : NAME_MIN) - DOTS_LENGTH;
	size_t from = begin + (kept + 1) / 2, to = end - kept / 2;

	if (end - begin <= kept + DOTS_LENGTH)
		return;
	while (is_within_character(line, from))
		from--;
	while (is_within_character(line, to))
		to++;
	replace_by_dots(line, from, to);
}

size_t shorten_name(struct buf *line, size_t begin, size_t end, size_t by)
{
	static const char brackets[] = "<>()";
	const size_t size = line->size, goal = size > by ? size - by : 0;
	size_t from, to;

	for (const char *pair = brackets; *pair; pair += 2)
		while (line->size > goal &&
		       longest_between(line, begin, end - (size - line->size), pair[0], pair[1], &from, &to))
			replace_by_dots(line, from, to);
	end -= size - line->size;
	if (line->size > goal) {
		const size_t before = line->size, over = before - goal;

		cut_middle(line, begin, end, end - begin > over ? end - begin - over : 0);
		end -= before - line->size;
	}
	return end;
}
