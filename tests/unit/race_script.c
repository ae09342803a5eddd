/* Plays a sequence: the fake kernel executes the statements, line by line, and the tracer's actions are compared with
 * the expected ones.
 */
#include "config.h"
#include "base/buf.h"
#include "tests/unit/fake_kernel.h"
#include "tests/unit/fake_world.h"
#include "tests/unit/race_script.h"
#include "tests/unit/race_verbs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIGGERS_MAX 32
#define LINES_MAX    64
#define WIDTH        100

/* An "at" or "after" line: its statements are played just before, or just after, an action of the tracer. */
struct trigger {
	const char *action, *statements; /* of the script's line */
	size_t action_length;
	bool is_after, is_used;
};

static struct {
	char *script; /* a copy of the race's script, which cut_script() cuts into the lines */
	const char *lines[LINES_MAX];
	size_t line_count, next; /* next: the line that is played next */
	struct buf text;         /* the statements that were played, and the tracer's actions */
	size_t line_start;       /* offset in `text` of the line of actions that is being written */
	char action[160];
	char change[64];  /* the last action, without its places: "plant 100" */
	uint32_t changed; /* a bit for each place of that action */
	size_t change_start, change_line;
	char last[160]; /* the last action, and how many times in a row it came */
	unsigned repeats;
	size_t last_start, last_line;
	struct trigger triggers[TRIGGERS_MAX];
	size_t trigger_count;
	char failure[256];
	bool has_begun;
} play;

/* ---- The transcript ---- */

static void write_action(const char *text)
{
	struct buf *b = &play.text;
	const bool is_first = play.line_start == b->size;

	if (!is_first && b->size - play.line_start + strlen(text) > WIDTH) {
		buf_add_str(b, ";\n");
		play.line_start = b->size;
		buf_printf(b, "> %s", text);
		return;
	}
	buf_printf(b, "%s%s", is_first ? "> " : "; ", text);
}

static void end_line(void)
{
	if (play.line_start != play.text.size)
		buf_add_char(&play.text, '\n');
	play.line_start = play.text.size;
	play.change[0] = play.last[0] = '\0';
}

/* Adds a change such as "plant 100 malloc" to the transcript. Changes of several places in a row become one action,
 * with the places in the order of their addresses, because the tracer changes them in the order of a hash table. */
static void note_change(const char *text)
{
	const char *name = strrchr(text, ' ');
	char all[200] = "";
	size_t length = 0;

	if (strncmp(play.change, text, (size_t)(name - text)) != 0 || strlen(play.change) != (size_t)(name - text)) {
		snprintf(play.change, sizeof(play.change), "%.*s", (int)(name - text), text);
		play.changed = 0;
		play.change_start = play.text.size;
		play.change_line = play.line_start;
	}
	play.text.size = play.change_start;
	play.line_start = play.change_line;
	for (size_t i = 0; fake_place_n(i); i++) {
		if (!strcmp(fake_place_n(i)->name, name + 1))
			play.changed |= 1u << i;
		if (play.changed & 1u << i)
			length += (size_t)snprintf(all + length, sizeof(all) - length, " %s", fake_place_n(i)->name);
	}
	char *const action = xasprintf("%s%s", play.change, all);

	write_action(action);
	free(action);
}

/* If the last action is the same verb (INTERRUPT or DETACH) on other tasks, adds this task to it ("INTERRUPT 100 101")
 * and returns true. Else returns false. */
static bool add_to_many(const char *text)
{
	static const char *const verbs[] = {"INTERRUPT", "DETACH"};
	char verb[16], *const before = xstrdup(play.last);
	int tid, at = 0, end = 0;
	bool is_added = false;

	if (strlen(before) + 12 < sizeof(play.last) && sscanf(text, "%15s %d%n", verb, &tid, &end) == 2 && !text[end])
		for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
			is_added |= !strcmp(verb, verbs[i]) && !strncmp(before, verb, strlen(verb)) &&
				    before[strlen(verb)] == ' ' && before[strcspn(before, "(x")] == '\0';
	if (is_added) {
		char all[sizeof(play.last)];
		int length = snprintf(all, sizeof(all), "%s", verb), other;
		bool is_in = false;

		for (const char *rest = before + strlen(verb); sscanf(rest, " %d%n", &other, &at) == 1; rest += at) {
			if (!is_in && tid < other)
				length += snprintf(all + length, sizeof(all) - (size_t)length, " %d", tid);
			is_in |= tid <= other;
			length += snprintf(all + length, sizeof(all) - (size_t)length, " %d", other);
		}
		if (!is_in)
			snprintf(all + length, sizeof(all) - (size_t)length, " %d", tid);
		play.text.size = play.last_start;
		play.line_start = play.last_line;
		snprintf(play.last, sizeof(play.last), "%s", all);
		write_action(all);
	}
	free(before);
	return is_added;
}

static bool is_change(const char *text)
{
	const char *colon = strncmp(text, "by ", 3) ? NULL : strstr(text, ": ");
	const char *verb = colon ? colon + 2 : text;

	return !strncmp(verb, "plant ", 6) || !strncmp(verb, "clean ", 6);
}

static void record_action(const char *text)
{
	if (is_change(text)) {
		note_change(text);
		play.last[0] = '\0';
		return;
	}
	if (strcmp(text, play.last) != 0 && add_to_many(text))
		return;
	if (strcmp(text, play.last) != 0) {
		play.repeats = 1;
		play.last_start = play.text.size;
		play.last_line = play.line_start;
		snprintf(play.last, sizeof(play.last), "%s", text);
		write_action(text);
	} else {
		play.text.size = play.last_start;
		play.line_start = play.last_line;
		char *const action = xasprintf("%s x%u", text, ++play.repeats);

		write_action(action);
		free(action);
	}
	play.change[0] = '\0';
}

void fake_note(const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	record_action(text);
}

void fake_started(void)
{
	if (play.has_begun)
		return;
	play.has_begun = true;
	play.text.size = play.line_start = 0;
	play.change[0] = play.last[0] = '\0';
}

void fake_fail(const char *fmt, ...)
{
	va_list args;

	if (play.failure[0])
		return;
	va_start(args, fmt);
	vsnprintf(play.failure, sizeof(play.failure), fmt, args);
	va_end(args);
}

bool fake_has_failed(void)
{
	return play.failure[0];
}

/* ---- Triggers ---- */

static void pull_triggers(const char *action, bool is_after)
{
	for (size_t i = 0; i < play.trigger_count; i++) {
		struct trigger *trigger = &play.triggers[i];

		if (trigger->is_used || trigger->is_after != is_after || strlen(action) != trigger->action_length ||
		    strncmp(action, trigger->action, trigger->action_length) != 0)
			continue;
		trigger->is_used = true;
		race_statements(trigger->statements);
		return;
	}
}

void fake_begin(const char *fmt, ...)
{
	char action[sizeof(play.action)];
	va_list args;

	va_start(args, fmt);
	vsnprintf(action, sizeof(action), fmt, args);
	va_end(args);
	pull_triggers(action, false);
	memcpy(play.action, action, sizeof(action)); /* the trigger may have caused another action */
}

void fake_done(int error)
{
	char action[160];

	snprintf(action, sizeof(action), "%s", play.action);
	if (error)
		fake_note("%s (%s)", action, fake_error_name(error));
	else
		record_action(action);
	pull_triggers(action, true);
}

void fake_done_silently(void)
{
	char action[160];

	snprintf(action, sizeof(action), "%s", play.action);
	pull_triggers(action, true);
}

void fake_point(const char *fmt, ...)
{
	char text[160];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	pull_triggers(text, false);
}

static bool arm_trigger(const char *line)
{
	const bool is_after = !strncmp(line, "after ", 6);
	const char *action = line + (is_after ? 6 : 3), *end = strstr(line, ": ");

	if (!is_after && strncmp(line, "at ", 3) != 0)
		return false;
	if (!end || play.trigger_count == TRIGGERS_MAX) {
		fake_fail("this line cannot be understood: %s", line);
		return true;
	}
	play.triggers[play.trigger_count++] = (struct trigger){
		.action = action, .action_length = (size_t)(end - action), .statements = end + 2, .is_after = is_after};
	return true;
}

/* ---- Lines ---- */

/* Cuts the script into its lines and omits the expectations. */
static void cut_script(const char *script)
{
	char *rest;

	play.script = xstrdup(script);
	for (char *line = strtok_r(play.script, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (line[0] == '>')
			continue;
		if (play.line_count == LINES_MAX)
			fake_fail("too many lines");
		else
			play.lines[play.line_count++] = line;
	}
}

static void show_line(const char *line)
{
	end_line();
	buf_printf(&play.text, "%s\n", line);
	play.line_start = play.text.size;
}

/* Goes to the next line of events. Makes triggers of the "at" and "after" lines before it. */
static void arm_next(void)
{
	while (play.next < play.line_count && arm_trigger(play.lines[play.next]))
		show_line(play.lines[play.next++]);
}

bool fake_advance(void)
{
	if (fake_has_failed() || play.next == play.line_count)
		return false;
	const char *line = play.lines[play.next++];

	show_line(line);
	race_statements(line);
	arm_next();
	return true;
}

/* ---- Playing ---- */

/* Returns a copy in which consecutive lines of actions are one line, so that the division into lines does not
 * matter. */
static char *join_action_lines(const char *text)
{
	struct buf b = {0};
	bool is_action = false;

	for (const char *line = text; *line;) {
		const size_t length = strcspn(line, "\n");
		size_t size = length;

		if (length && line[0] == '>') {
			while (size && strchr(" ;", line[size - 1]))
				size--;
			buf_printf(&b, "%s%.*s", is_action ? "; " : "> ", (int)size - 2, line + 2);
			is_action = true;
		} else if (length) {
			buf_printf(&b, "%s%.*s\n", is_action ? "\n" : "", (int)length, line);
			is_action = false;
		}
		line += length + (line[length] == '\n');
	}
	if (is_action)
		buf_add_char(&b, '\n');
	char *copy = xstrdup(buf_str(&b));

	buf_free(&b);
	return copy;
}

static void check_triggers(void)
{
	for (size_t i = 0; i < play.trigger_count; i++)
		if (!play.triggers[i].is_used)
			fake_fail("this has not come: %.*s", (int)play.triggers[i].action_length,
				  play.triggers[i].action);
}

bool race_play(const struct race *race, char **report)
{
	struct world world = {0};

	memset(&play, 0, sizeof(play));
	fake_reset();
	race_world(race->world, &world);
	cut_script(race->script);
	arm_next();
	/* fake_started() clears the transcript, but the report must also show the triggers that are armed here. */
	char *const armed = xstrdup(buf_str(&play.text));

	if (!fake_has_failed())
		world_run(&world);
	check_triggers();
	end_line();
	char *const played = xasprintf("%s%s", play.has_begun ? armed : "", buf_str(&play.text));
	char *const is = join_action_lines(played), *const expected = join_action_lines(race->script);
	/* A "! " is a mistake even if the script expects it, because it marks an action that must never happen. */
	const bool ok = !fake_has_failed() && !strcmp(is, expected) && !strstr(played, "! ");

	*report = ok ? NULL
		     : xasprintf("\n%s:%u: %s\n  %s\n%s%s%sWhat was done:\n%s\n", race->file, race->line, race->name,
				 race->drawing, fake_has_failed() ? "It cannot be played: " : "", play.failure,
				 fake_has_failed() ? "\n" : "", played);
	free(is);
	free(expected);
	free(played);
	free(armed);
	free(play.script);
	buf_free(&play.text);
	return ok;
}
