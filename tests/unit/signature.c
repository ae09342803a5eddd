/* Tests parameters and results from debug information. The files signatures/NAME.txt are sources with the expected
 * signatures of their functions:
 *
 *	# a comment
 *	- gcc -g -O2             a build: this command, followed by the source and -o
 *	+ gcc -g -O0             a build only with CHECK_LONG, because the reader treats it like another build
 *	= main: int:i4 (...)     the expected signature, in all builds
 *	=-O2 main: ...           only in builds whose command has that word; the last line that fits is used
 *
 * All other lines are the source. If the arguments are a program and symbols, the test prints the symbols'
 * signatures. */
#include "config.h"
#include "long.h"
#include "signature_util.h"
#include "symbols_util.h"
#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

#define BUILDS_MAX 200

static const struct language {
	const char *name, *suffix;
} languages[] = {
	{"c", "c"}, {"optimised", "c"}, {"callbacks", "c"}, {"cxx", "cpp"}, {"bases", "cpp"}, {"rust", "rs"},
};

struct build {
	const struct language *language;
	const char *command; /* the line of the build, which is also part of the test's name */
	char *text;          /* of the file */
};

static char *read_signatures(const char *name)
{
	const char *top = getenv("TOP_SRCDIR");
	char *path = xasprintf("%s/tests/unit/signatures/%s.txt", top ? top : "", name);
	char *text = read_file(path, 1u << 20, NULL);

	if (!text)
		fprintf(stderr, "%s cannot be read: TOP_SRCDIR is to be the folder of the sources\n", path);
	free(path);
	if (!text)
		exit(1);
	return text;
}

static bool is_long_build(const char *line)
{
	return line[0] == '+' && line[1] == ' ';
}

/* Returns true if the command has that word. */
static bool has_word(const char *command, const char *word, size_t length)
{
	for (const char *at = command; *at; at += strspn(at, " ")) {
		const size_t size = strcspn(at, " ");

		if (size == length && !strncmp(at, word, length))
			return true;
		at += size;
	}
	return false;
}

struct row {
	const char *symbol, *text;
};

/* Reads a line "=WORD SYMBOL: TEXT" and adds it to the rows. */
static void add_row(const struct build *build, char *line, struct row **rows, size_t *count, size_t *capacity)
{
	const size_t length = strcspn(line + 1, " ");
	char *symbol = line + 1 + length + 1;
	char *colon = strstr(symbol, ": ");
	size_t i = 0;

	assert_non_null(colon);
	*colon = '\0';
	if (length && !has_word(build->command, line + 1, length))
		return;
	while (i < *count && strcmp((*rows)[i].symbol, symbol) != 0)
		i++;
	if (i == *count)
		ARRAY_GROW(*rows, *capacity, (*count)++);
	(*rows)[i] = (struct row){symbol, colon + 2};
}

/* Writes the lines of the source to a file. Returns the expected signatures of this build, from the lines that begin
 * with "=". */
static struct row *write_source(const struct build *build, char *text, size_t *count)
{
	char *name = xasprintf("source.%s", build->language->suffix), *next;
	char *source = xcalloc(1, strlen(text) + 1), *end = source;
	struct row *rows = NULL;
	size_t capacity = 0;

	for (char *line = text; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (line[0] == '=')
			add_row(build, line, &rows, count, &capacity);
		if (line[0] != '=' && line[0] != '-' && !is_long_build(line) && strncmp(line, "# ", 2) != 0)
			end = stpcpy(end, line);
		*end++ = '\n'; /* the compiler's line numbers stay those of the text */
	}
	test_write(name, source);
	free(source);
	free(name);
	return rows;
}

static void test_signatures_of_a_build_are_as_expected(void **state)
{
	const struct build *build = *state;
	char *tool = xstrndup(build->command, strcspn(build->command, " "));
	const bool is_there = test_has(tool) && (!strstr(build->command, "lld") || test_has("ld.lld"));
	size_t count = 0;

	if (!is_there)
		print_message("SKIPPED: there is no %s here, or no ld.lld\n", tool);
	free(tool);
	if (!is_there)
		skip();
	char *text = xstrdup(build->text);
	struct row *rows = write_source(build, text, &count);

	assert_int_equal(test_run("%s source.%s -o program", build->command, build->language->suffix), 0);
	struct object *object = test_object("program");

	assert_non_null(object);
	for (size_t i = 0; i < count; i++)
		assert_signature(object, rows[i].symbol, rows[i].text);
	assert_true(count > 0);
	test_object_free(object);
	free(rows);
	free(text);
}

static size_t add_builds(const struct language *language, struct CMUnitTest *tests, size_t count)
{
	char *text = read_signatures(language->name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += line != text;
		if (line[0] != '-' && !(is_long_build(line) && test_is_long()))
			continue;
		struct build *build = xcalloc(1, sizeof(*build));

		*build = (struct build){language, xstrndup(line + 2, strcspn(line + 2, "\n")), text};
		if (count == BUILDS_MAX)
			exit(1);
		tests[count++] = (struct CMUnitTest){
			.name = xasprintf("%s: %s", language->name, build->command),
			.test_func = test_signatures_of_a_build_are_as_expected,
			.initial_state = build,
		};
	}
	return count;
}

static int print(char **names)
{
	strcpy(test_folder, "");
	struct object *object = test_object(names[0]);

	for (char **name = names + 1; object && *name; name++) {
		char *text = signature_text(object, *name);

		printf("= %s: %s\n", *name, text);
		free(text);
	}
	test_object_free(object);
	return !object;
}

int main(int argc, char **argv)
{
	static struct CMUnitTest tests[BUILDS_MAX];
	size_t count = 0;

	if (argc > 1)
		return print(argv + 1);
	for (size_t i = 0; i < ARRAY_SIZE(languages); i++)
		count = add_builds(&languages[i], tests, count);
	return _cmocka_run_group_tests("signature", tests, count, test_folder_make, test_folder_remove);
}
