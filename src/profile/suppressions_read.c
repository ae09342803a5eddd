/* Reads suppressions in the syntax of valgrind ({ name, Memcheck:Leak, fun:, obj:, src:, ... }) and of LeakSanitizer
 * (leak:PATTERN). */
#include "config.h"
#include "base/glob.h"
#include "base/msg.h"
#include "profile/suppressions.h"
#include "symbols/names/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 4 << 20 };
#define LEAK_KINDS "match-leak-kinds:"

/* Blocks that the C and C++ libraries keep on purpose until the process ends: buffers of the standard streams; data
 * that setlocale, tzset, iconv, gettext and the name services have loaded; the dynamic linker's data; the list of
 * atexit; the environment; libstdc++'s reserve for exceptions. */
static const char own[] =
	"{\n the buffer of a standard stream\n Memcheck:Leak\n fun:malloc\n"
	" fun:*_IO_*file_doallocate\n}\n"
	"{\n the reserve of libstdc++ for exceptions\n Memcheck:Leak\n fun:malloc\n"
	" obj:*/libstdc++.so*\n fun:call_init*\n}\n"
	"{\n the reserve of libstdc++ for exceptions (2)\n Memcheck:Leak\n fun:malloc\n"
	" obj:*/libstdc++.so*\n obj:*/ld-linux*\n}\n"
	"{\n the reserve of libstdc++ for exceptions (static)\n Memcheck:Leak\n fun:malloc\n ...\n"
	" fun:_GLOBAL__sub_I_*eh_alloc*\n}\n"
	"{\n the dynamic linker\n Memcheck:Leak\n fun:*\n obj:*/ld-linux*\n}\n"
	"{\n the dynamic linker's data of each thread\n Memcheck:Leak\n ...\n fun:*_dl_allocate_tls*\n}\n"
	"{\n the dynamic linker's errors\n Memcheck:Leak\n ...\n fun:*_dl_*\n obj:*/libc.so*\n}\n"
	"{\n locales\n Memcheck:Leak\n ...\n fun:*setlocale\n}\n"
	"{\n locales (2)\n Memcheck:Leak\n ...\n fun:*_nl_*\n}\n"
	"{\n translations\n Memcheck:Leak\n ...\n fun:*textdomain*\n}\n"
	"{\n time zones\n Memcheck:Leak\n ...\n fun:*tzset*\n}\n"
	"{\n time zones (2)\n Memcheck:Leak\n ...\n fun:*__tz*\n}\n"
	"{\n conversions of characters\n Memcheck:Leak\n ...\n fun:*__gconv_*\n}\n"
	"{\n conversions of wide characters\n Memcheck:Leak\n ...\n fun:*__wcsmbs_*\n}\n"
	"{\n name services\n Memcheck:Leak\n ...\n fun:*__nss_*\n}\n"
	"{\n the list of atexit\n Memcheck:Leak\n fun:*\n fun:*__new_exitfn\n}\n"
	"{\n the environment\n Memcheck:Leak\n fun:*\n fun:*__add_to_environ\n}\n";

/* A file that is being read. */
struct suppressions_read_input {
	struct suppressions *suppressions;
	const char *path; /* path for messages */
	const char *file; /* `path`, interned; NULL: functrace's own suppressions */
	char *rest;
	unsigned line;
};

static struct suppression *suppressions_read_add(struct suppressions_read_input *input, const char *name)
{
	struct suppressions *suppressions = input->suppressions;

	ARRAY_GROW(suppressions->items, suppressions->capacity, suppressions->count);
	struct suppression *item = &suppressions->items[suppressions->count++];

	*item = (struct suppression){
		.name = xstrdup(name), .file = input->file, .line = input->line, .kinds = LEAK_KINDS_ALL};
	return item;
}

/* Adds a pattern and takes the text over. */
static void suppressions_read_add_pattern(struct suppression *item, enum suppression_pattern_kind kind, char *text)
{
	ARRAY_GROW(item->patterns, item->pattern_capacity, item->pattern_count);
	item->patterns[item->pattern_count++] = (struct suppression_pattern){.kind = kind, .text = text};
}

/* Converts a function name in valgrind's syntax to a pattern: valgrind uses mangled names of C++, traces have demangled
 * ones. */
static char *function_pattern(const struct suppressions_read_input *input, const char *text)
{
	if (strncmp(text, "_Z", 2))
		return xstrdup(text);
	char *name = text[glob_literal(text)] ? NULL : names_demangle(text);

	if (!name) {
		msg_warn("%s, line %u: '%s' matches nothing: names in traces are demangled, and functrace cannot "
			 "demangle this symbol. Write the demangled name instead.",
			 input->path, input->line, text);
		return xstrdup(text);
	}
	char *pattern = glob_quote(name);

	free(name);
	return pattern;
}

/* Returns the next line that is neither empty nor a comment, without surrounding blanks; returns NULL at the end of the
 * file. */
static char *suppressions_read_next_line(struct suppressions_read_input *input)
{
	char *line;

	while ((line = strsep(&input->rest, "\n"))) {
		input->line++;
		line += strspn(line, " \t\r");
		for (size_t length = strlen(line); length && strchr(" \t\r", line[length - 1]);)
			line[--length] = '\0';
		if (*line && *line != '#')
			return line;
	}
	return NULL;
}

static bool suppressions_read_fail(const struct suppressions_read_input *input, const char *what)
{
	msg_error("%s, line %u: %s", input->path, input->line, what);
	return false;
}

/* Returns true if the kind is "Memcheck:Leak"; other tools may be listed besides Memcheck. */
static bool suppressions_read_is_leak(const char *kind)
{
	const char *colon = strrchr(kind, ':');
	const char *tool = strstr(kind, "Memcheck");

	return colon && !strcmp(colon + 1, "Leak") && tool && tool < colon;
}

/* Adds a pattern for the frame in a line. Returns false if the line does not describe a frame. */
static bool take_frame(const struct suppressions_read_input *input, struct suppression *item, const char *line)
{
	if (!strncmp(line, "fun:", 4))
		suppressions_read_add_pattern(item, PATTERN_FUNCTION, function_pattern(input, line + 4));
	else if (!strncmp(line, "obj:", 4))
		suppressions_read_add_pattern(item, PATTERN_OBJECT, xstrdup(line + 4));
	else if (!strncmp(line, "src:", 4))
		suppressions_read_add_pattern(item, PATTERN_SOURCE, xstrdup(line + 4));
	else if (!strcmp(line, "..."))
		suppressions_read_add_pattern(item, PATTERN_FRAMES, NULL);
	else
		return false;
	return true;
}

/* Reads the kinds after "match-leak-kinds:", such as "definite,possible". Returns false after a message. */
static bool take_kinds(const struct suppressions_read_input *input, struct suppression *item, const char *kinds)
{
	kinds += strspn(kinds, " \t");
	if (leak_kinds_parse(kinds, &item->kinds))
		return true;
	msg_error(
		"%s, line %u: match-leak-kinds: takes definite, indirect, possible and reachable, with commas between, "
		"or all, or none, not '%s'",
		input->path, input->line, kinds);
	return false;
}

/* Reads an entry from after its "{" to its "}". Returns false after a message. */
static bool read_entry(struct suppressions_read_input *input)
{
	char *name = suppressions_read_next_line(input);
	const char *kind = name ? suppressions_read_next_line(input) : NULL, *line;
	struct suppression *item;

	if (!kind || !strcmp(kind, "}") || !strcmp(name, "}"))
		return suppressions_read_fail(
			input, "between { and } there should be a name, then Memcheck:Leak, then frames");
	if (!suppressions_read_is_leak(kind)) {
		while ((line = suppressions_read_next_line(input)) && strcmp(line, "}") != 0)
			;
		return line ? true : suppressions_read_fail(input, "the file ends before }");
	}
	item = suppressions_read_add(input, name);
	while ((line = suppressions_read_next_line(input)) && strcmp(line, "}") != 0)
		if (!strncmp(line, LEAK_KINDS, strlen(LEAK_KINDS))) {
			if (!take_kinds(input, item, line + strlen(LEAK_KINDS)))
				return false;
		} else if (!take_frame(input, item, line)) {
			return suppressions_read_fail(input,
						      "there should be fun:NAME, obj:PATH, src:FILE:LINE, ... or }");
		}
	if (!line)
		return suppressions_read_fail(input, "the file ends before }");
	return item->pattern_count
		       ? true
		       : suppressions_read_fail(input, "the entry has no frames, so it would match everything");
}

/* Adds an entry of LeakSanitizer. Its pattern matches any part of a name; with ^ it matches the beginning of the name,
 * with $ the end. * matches any bytes. */
static void read_leak(struct suppressions_read_input *input, const char *pattern)
{
	struct suppression *item = suppressions_read_add(input, pattern);
	const bool from_start = *pattern == '^';
	char *literal = glob_quote(pattern + from_start), *to = literal;
	size_t length = strlen(literal);
	const bool to_end = length && literal[length - 1] == '$';

	if (to_end)
		literal[length - 1] = '\0';
	/* glob_quote() has quoted each *. In LeakSanitizer's syntax it is a wildcard, so the quote is removed. */
	for (const char *from = literal; *from; from++)
		if (from[0] != '\\' || from[1] != '*')
			*to++ = *from;
	*to = '\0';
	suppressions_read_add_pattern(item, PATTERN_ANYWHERE,
				      xasprintf("%s%s%s", from_start ? "" : "*", literal, to_end ? "" : "*"));
	free(literal);
}

static bool read_text(struct suppressions_read_input *input)
{
	const char *line;

	while ((line = suppressions_read_next_line(input))) {
		if (!strcmp(line, "{")) {
			if (!read_entry(input))
				return false;
		} else if (!strncmp(line, "leak:", 5) && line[5]) {
			read_leak(input, line + 5);
		} else if (!strchr(line, ':')) {
			return suppressions_read_fail(
				input, "there should be { of valgrind's syntax or leak:PATTERN of LeakSanitizer's");
		}
		/* Other entries are ignored: the file may also contain those for other sanitizers (race:,
		 * undefined:...). */
	}
	return true;
}

bool suppressions_read(struct suppressions *suppressions, const char *path)
{
	char *text = read_file(path, FILE_MAX, NULL);

	if (!text) {
		msg_error("cannot read the suppressions in %s: %s", path, strerror(errno));
		return false;
	}
	struct suppressions_read_input input = {.suppressions = suppressions,
						.path = path,
						.file = string_intern(&suppressions->files, path),
						.rest = text};
	const bool sound = read_text(&input);

	free(text);
	return sound;
}

void suppressions_add_own(struct suppressions *suppressions)
{
	char *text = xstrdup(own);
	struct suppressions_read_input input = {.suppressions = suppressions, .path = "own suppressions", .rest = text};

	read_text(&input);
	free(text);
}
