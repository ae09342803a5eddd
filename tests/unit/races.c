/* Races of the ptrace protocol: sequences of what happens in the kernel, each with all that the tracer is to do about
 * it. The tracer is the real one, with tracer_run() for its beginning; the kernel is a fake: fake_kernel.h.
 *
 * The sequences are text, in tests/unit/sequences/:
 *
 *	== NAME
 *	= A: what one does | B: what another does | A: ...
 *	- THE WORLD: process PID TID...; attach PID...; launch PID; -F; ...
 *	WHAT HAPPENS; AND AT THE SAME TIME
 *	> WHAT THE TRACER DOES; AND THEN
 *
 * The tracer has attached itself to the first process, all of whose tasks sleep, when the first line happens: the
 * next one whenever the tracer waits and there is nothing (or naps). "at ACTION: ..." happens just before the tracer
 * does that, "after ACTION: ..." just after. Nothing happens any more behind the last line: a task that stays stopped
 * is reported with "!", as is all that must never be, whatever happens (fake_ptrace.c).
 * race_verbs.c has the words. The expectation of a new sequence can be taken, once it has been understood, from what
 * the test prints when it fails; RACES=TEXT plays those only whose names have that in them. */
#include "config.h"
#include "base/msg.h"
#include "tests/unit/fake_kernel.h"
#include "tests/unit/race_script.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const files[] = {"births", "execs", "collect", "seize", "letgo", "pass", "signals", "traps"};

static struct race *races;
static size_t race_count, race_capacity;

/* A line of a race, without the mark that says what it is, is added to its part. */
static void add_line(char **part, const char *line, size_t length)
{
	char *const longer = xasprintf("%s%.*s\n", *part, (int)length, line);

	free(*part);
	*part = longer;
}

static struct race *begin(const char *file, unsigned number, const char *line, size_t length)
{
	ARRAY_GROW(races, race_capacity, race_count);
	races[race_count] = (struct race){.name = xstrndup(line, length),
					  .drawing = xstrdup(""),
					  .world = xstrdup(""),
					  .script = xstrdup(""),
					  .file = file,
					  .line = number};
	return &races[race_count++];
}

static void read_races(const char *name)
{
	const char *top = getenv("TOP_SRCDIR");
	char *path = xasprintf("%s/tests/unit/sequences/%s.txt", top ? top : ".", name);
	char *text = read_file(path, 1 << 20, NULL);
	struct race *race = NULL;
	unsigned number = 1;

	if (!text)
		msg_die("%s cannot be read: TOP_SRCDIR is to be the folder of the sources", path);
	for (const char *line = text; *line; number++) {
		const size_t length = strcspn(line, "\n");

		if (!strncmp(line, "== ", 3))
			race = begin(name, number, line + 3, length - 3);
		else if (race && !strncmp(line, "= ", 2))
			add_line(&race->drawing, line + 2, length - 2);
		else if (race && !strncmp(line, "- ", 2))
			add_line(&race->world, line + 2, length - 2);
		else if (race && length && line[0] != '#')
			add_line(&race->script, line, length);
		line += length + (line[length] == '\n');
	}
	free(text);
	free(path);
}

static void test_race(void **state)
{
	const struct race *race = *state;
	char *report = NULL;

	if (!arch_for_elf(EM_X86_64, ELFCLASS64)) {
		print_message("the fake kernel's programs are of x86-64, which this functrace does not know\n");
		skip();
	}
	if (race_play(race, &report))
		return;
	fputs(report, stderr); /* cmocka's own messages are cut */
	free(report);
	fail();
}

int main(void)
{
	const char *wanted = getenv("RACES");
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		read_races(files[i]);
	struct CMUnitTest *tests = xcalloc(race_count, sizeof(*tests));

	for (size_t i = 0; i < race_count; i++)
		if (!wanted || strstr(races[i].name, wanted))
			tests[count++] = (struct CMUnitTest){
				.name = races[i].name, .test_func = test_race, .initial_state = &races[i]};
	const int failed = _cmocka_run_group_tests("races", tests, count, NULL, NULL);

	fake_reset();
	for (size_t i = 0; i < race_count; i++) {
		free(races[i].name);
		free(races[i].drawing);
		free(races[i].world);
		free(races[i].script);
	}
	free(races);
	free(tests);
	return failed;
}
