/* Divides a sequence into statements, and prepares the fake kernel's state at the sequence's beginning. */
#include "config.h"
#include "tests/unit/fake_kernel.h"
#include "tests/unit/race_verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *word(const struct words *w, size_t n)
{
	return n < w->count ? w->word[n] : "";
}

int number(const struct words *w, size_t n)
{
	return (int)strtol(word(w, n), NULL, 10);
}

/* ---- Statements ---- */

static void split(char *text, struct words *w)
{
	char *rest;

	w->count = 0;
	for (char *part = strtok_r(text, " \t", &rest); part && w->count < WORDS_MAX;
	     part = strtok_r(NULL, " \t", &rest))
		w->word[w->count++] = part;
}

static bool statement_without_subject(const struct words *w)
{
	if (!strcmp(word(w, 0), "let-go"))
		world_let_go();
	else if (!strcmp(word(w, 0), "toggle"))
		world_toggle();
	else if (!strcmp(word(w, 0), "tick"))
		world_tick();
	else if (!strcmp(word(w, 0), "alarm"))
		fake_alarm();
	else if (!strcmp(word(w, 0), "pump"))
		world_pump();
	else
		return !strcmp(word(w, 0), "nothing") || !w->count;
	return true;
}

static void statement(char *text)
{
	struct words w;
	char whole[160];

	snprintf(whole, sizeof(whole), "%s", text);
	split(text, &w);
	if (statement_without_subject(&w))
		return;
	struct fake_task *task = fake_find(number(&w, 0));

	if (!task)
		fake_fail("'%s': there is no such task", whole);
	else if (!race_verb(task, &w))
		fake_fail("'%s' cannot be understood", whole);
}

void race_statements(const char *text)
{
	char *const copy = xstrdup(text);
	char *rest;

	for (char *part = strtok_r(copy, ";", &rest); part && !fake_has_failed(); part = strtok_r(NULL, ";", &rest))
		statement(part);
	free(copy);
}

/* ---- The world ---- */

/* "process PID TID...": a process with these threads, which sleep and are not traced. */
static void world_process(const struct words *w)
{
	struct fake_memory *memory = fake_memory_new(word(w, 1), true);

	fake_new(number(w, 1), number(w, 1), memory);
	for (size_t i = 2; i < w->count; i++)
		fake_new(number(w, i), number(w, 1), memory);
}

static void world_line(const struct words *w, struct world *world)
{
	const char *key = word(w, 0);

	if (!strcmp(key, "process"))
		world_process(w);
	else if (!strcmp(key, "launch"))
		world->launched = number(w, 1);
	else if (!strcmp(key, "attach"))
		for (size_t i = 1; i < w->count && world->pid_count < WORLD_PIDS_MAX; i++)
			world->pids[world->pid_count++] = number(w, i);
	else if (!strcmp(key, "-F"))
		world->stays = true;
	else if (!strcmp(key, "--verify"))
		world->verify = true;
	else if (!strcmp(key, "unwritable"))
		world->unwritable = true;
	else if (!strcmp(key, "small"))
		world->small = true;
	else if (!strcmp(key, "guarded"))
		world->refuses = true;
	else if (!strcmp(key, "figures"))
		world->figures = true;
	else if (!strcmp(key, "whole"))
		world->whole = true;
	else if (number(w, 0))
		fake_fail("a statement in the world");
	else
		fake_fail("a world cannot have '%s'", key);
}

void race_world(const char *text, struct world *world)
{
	char *const copy = xstrdup(text);
	size_t count = 0;
	char *rest;
	struct words w;

	race_verbs_reset();
	for (char *line = strtok_r(copy, ";\n", &rest); line; line = strtok_r(NULL, ";\n", &rest)) {
		char *const again = xstrdup(line);

		split(line, &w);
		if (number(&w, 0))
			race_statements(again);
		else
			world_line(&w, world);
		free(again);
	}
	free(copy);
	for (const struct fake_task *task; (task = fake_nth(count)); count++)
		if (task->memory) {
			task->memory->has_tail = !world->small;
			task->memory->refuses = world->refuses;
		}
	if (!world->pid_count && !world->launched && fake_nth(0))
		world->pids[world->pid_count++] = fake_nth(0)->tgid;
}
