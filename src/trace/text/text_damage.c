/* Distinguishes damaged records of a text trace from comments.
 *
 * Any line that is no record is a comment, so a call with one changed character would silently become a comment.
 * Therefore a line that still begins or ends like a record is reported as damaged. */
#include "config.h"
#include "trace/text/text_damage.h"
#include "trace/text/text_read.h"
#include "trace/note_end.h"

#include <string.h>

bool text_has_control(const char *text)
{
	for (; *text; text++)
		if (text_is_control(*text))
			return true;
	return false;
}

static size_t count_digits(const char *p)
{
	return strspn(p, "0123456789");
}

/* Returns true if a line begins with an index, `12.`, or with an index in which digits were replaced by '#': `#.`,
 * `1#.`, `#2.` A line whose first character is '#' must also end like a call. */
static bool begins_as_call(const char *line)
{
	const size_t digits = strspn(line, "0123456789#");

	if (!digits || line[digits] != '.')
		return false;
	return line[0] != '#' || text_ends_as_call(line, strlen(line));
}

static bool is_heap_line(const char *line)
{
	if (!strcmp(line, TEXT_HEAP_LINE))
		return true;
	for (size_t i = 0; text_begins(line, "##   ") && i < TEXT_HEAP_LINES; i++)
		if (text_begins(line + 5, text_heap_lines[i]))
			return true;
	return false;
}

/* Returns a clause if a line that begins with '#' looks like a damaged record, else NULL. Such lines are mostly
 * comments, but a damaged digit of a call can be a '#', too. */
static const char *hash_damage(const char *line)
{
	if (begins_as_call(line))
		return "looks like a damaged call";
	if (text_begins(line, TEXT_MODULE_LINE))
		return "looks like a damaged module";
	if (text_begins(line, TEXT_BUILD_LINE))
		return "looks like a damaged build-id";
	return is_heap_line(line) ? "looks like a damaged part of the heap status" : NULL;
}

static bool is_header_part(const char *line)
{
	for (const char *p = line; p; p = strchr(p, ',')) {
		p += *p == ',';
		p += *p == ' ';
		for (size_t i = 0; i < TEXT_KEYS; i++)
			if (text_begins(p, text_keys[i]))
				return true;
	}
	return false;
}

bool text_is_header(const char *line)
{
	return text_begins(line, "version=") && count_digits(line + strlen("version="));
}

/* Searches a line for a declaration that follows other text. `what` occurs in each declaration of this sort; `own` is
 * the text with which such a declaration begins. Returns the address of `what`, or NULL. If the line begins with `own`,
 * skips the first `what`, because it belongs to the line itself. */
static const char *find_after(const char *line, const char *own, const char *what)
{
	const char *found = strstr(line, what);

	return found && text_begins(line, own) ? strstr(found + 1, what) : found;
}

bool text_has_another(const char *line)
{
	if (!*line)
		return false;
	/* Sound comments contain no control character except tabs. */
	for (const char *c = line; *c; c++)
		if (text_is_control(*c) && (*c != '\t' || (c > line && text_is_frame(c))))
			return true;
	for (const char *c = strstr(line + 1, "version="); c; c = strstr(c + 1, "version="))
		if (is_header_part(c + 1))
			return true;
	if (find_after(line, "<", "> : ") || find_after(line, ": ", " => 0x"))
		return true;
	if (!text_ends_as_call(line, strlen(line)))
		return false;
	for (const char *p = strstr(line, ". "); p; p = strstr(p + 1, ". "))
		if (p > line && p[-1] >= '0' && p[-1] <= '9')
			return true;
	return false;
}

bool text_is_damaged_name(const char *name)
{
	unsigned open = 0;

	while (*(name += strcspn(name, "()"))) {
		if (*name++ == '(') {
			open++;
			if (text_begins(name, "0x"))
				return true;
		} else if (!open-- || text_begins(name, " = 0x")) {
			return true;
		}
	}
	return open;
}

/* Returns a clause if the line may be a declaration whose first or second character is damaged, else NULL. */
static const char *declaration_damage(const char *line)
{
	if (text_begins(line, ": ") || strstr(line, " => 0x"))
		return "looks like a damaged object";
	if ((line[0] == '<' && text_hex_digit(line[1])) || strstr(line, "> : "))
		return "looks like a damaged resource";
	if (text_begins(line, "@ ") || (line[0] == '@' && strstr(line, " : ")))
		return "looks like a damaged context";
	if (text_begins(line, "& ") || (line[0] == '&' && strstr(line, " : ")))
		return "looks like a damaged attachment";
	if (line[0] && text_begins(line + 1, "## "))
		return "looks like a damaged note";
	return NULL;
}

/* Returns true if the line is a note that ends the trace and one of its first three characters is damaged. Read as a
 * comment, such a line would make a complete trace look cut off. */
static bool is_damaged_end(const char *line)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < 3; i++) {
		if (!line[i])
			return false;
		wrong += line[i] != "## "[i];
	}
	return wrong == 1 && note_ends_trace(line + 3, false, 0);
}

const char *text_damage(const char *line)
{
	if (!*line)
		return NULL;
	if (is_damaged_end(line))
		return "looks like a damaged note";
	if (*line == '#')
		return hash_damage(line);
	if (begins_as_call(line) || text_ends_as_call(line, strlen(line)))
		return "looks like a damaged call";
	if (line[0] == '\t')
		return text_is_frame(line) || text_is_arg(line) ? "belongs to no call"
								: "looks like a damaged frame or argument";
	if (text_begins(line + 1, "0x") && text_hex_digit(line[3]))
		return "looks like a damaged frame";
	if (line[1] == '$' && strstr(line, " = "))
		return "looks like a damaged argument";
	const char *damage = declaration_damage(line);

	if (damage)
		return damage;
	return is_header_part(line) ? "looks like a part of a header" : NULL;
}
