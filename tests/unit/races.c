/* Races of the ptrace protocol: sequences of events in the kernel, each with all actions that the tracer must do. The
 * tracer is the real one, begun by tracer_run(); the kernel is a fake: fake_kernel.h.
 *
 * The sequences are text, in tests/unit/sequences/:
 *
 *	== NAME
 *	= A: action of one task | B: action of another | A: ...
 *	- THE WORLD: process PID TID...; attach PID...; launch PID; -F; ...
 *	EVENT IN THE KERNEL; EVENT AT THE SAME TIME
 *	> ACTION OF THE TRACER; NEXT ACTION
 *
 * Unless the world says otherwise, at the first line of events the tracer has attached to the first process, all of
 * whose tasks sleep. The next line is played whenever the tracer sleeps, or waits while no stop is ready. "at ACTION:
 * ..." happens just before the tracer does that action, "after ACTION: ..." just after. After the last line a task that
 * is still stopped is reported with "!", and so are actions that must never happen (fake_ptrace.c). race_verbs.c has
 * the words. The expectation of a new sequence can be copied from the test's output, after each action was found to be
 * right; RACES=TEXT plays only the sequences whose names contain the text. */
#include "config.h"
#include "base/msg.h"
#include "tests/unit/fake_kernel.h"
#include "tests/unit/race_script.h"
#include "unit_test.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const files[] = {"births", "execs", "collect", "seize", "letgo", "pass", "signals", "traps"};

static struct race *races;
static size_t race_count, race_capacity;

/* Appends a line to a part of a race: to its drawing, its world or its script. */
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

static void test_tracer_does_the_expected_actions(void **state)
{
	const struct race *race = *state;
	char *report = NULL;

	if (!arch_for_elf(EM_X86_64, ELFCLASS64)) {
		print_message("the fake kernel's programs are of x86-64, which this functrace does not know\n");
		skip();
	}
	if (race_play(race, &report))
		return;
	fputs(report, stderr); /* cmocka truncates its own messages */
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
			tests[count++] = (struct CMUnitTest){.name = races[i].name,
							     .test_func = test_tracer_does_the_expected_actions,
							     .initial_state = &races[i]};
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
