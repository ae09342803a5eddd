#include "config.h"
#include "cli/completion.h"
#include "base/buf.h"
#include "base/terminal_escape.h"
#include "proc/proc.h"
#include "proc/process_search.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#define COMMAND_MOST 60

static void add_blank(struct buf *text)
{
	if (text->size)
		buf_add_char(text, ' ');
}

/* Returns true if a word in an argument's name is a literal value ("gz"), not a placeholder ("NAME"). */
static bool is_literal(const char *word, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!islower((unsigned char)word[i]) && (!i || (!isdigit((unsigned char)word[i]) && word[i] != '-')))
			return false;
	return length;
}

static bool is_kind(const char *word, size_t length)
{
	static const char *const kinds[] = {"FILE", "DIR", "PID", "SIGNAL", "@FILE"};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strlen(kinds[i]) == length && !strncmp(kinds[i], word, length))
			return true;
	return false;
}

static void completion_add_words(struct buf *known, const char *text)
{
	while (*(text += strspn(text, "|, "))) {
		const size_t length = strcspn(text, "|, ");
		/* If the word is repeated, as in DIR[:DIR], take the first one. */
		const size_t first = strcspn(text, "|, [");

		if (is_literal(text, first) || is_kind(text, first)) {
			add_blank(known);
			buf_add(known, text, first);
		}
		text += length;
	}
}

static void completion_add_name(struct buf *names, const struct argp_option *option)
{
	if (option->flags & OPTION_HIDDEN)
		return;
	if (option->key > 0 && option->key <= UCHAR_MAX && isprint(option->key)) {
		add_blank(names);
		buf_printf(names, "-%c", option->key);
	}
	if (option->name) {
		add_blank(names);
		buf_printf(names, "--%s", option->name);
	}
}

static bool is_end(const struct argp_option *option)
{
	return !option->key && !option->name && !option->doc && !option->group;
}

/* Prints one line for an option and its aliases. The aliases are the next entries of the table. */
static void print_option(const struct argp_option *option, char *(*words)(int key))
{
	struct buf names = {0}, known = {0};
	char *const text = option->arg ? words(option->key) : NULL;

	for (const struct argp_option *name = option; name == option || (name->flags & OPTION_ALIAS); name++)
		completion_add_name(&names, name);
	if (option->arg)
		completion_add_words(&known, text ? text : option->arg);
	printf("%s\t%s%s\t%s\t%s\n", buf_str(&names),
	       !option->arg                          ? "none"
	       : option->flags & OPTION_ARG_OPTIONAL ? "optional"
						     : "required",
	       option->arg && strstr(option->arg, ",...") ? "," : "", known.size ? buf_str(&known) : "-",
	       option->doc ? option->doc : "");
	free(text);
	buf_free(&names);
	buf_free(&known);
}

static void print_options(const struct argp *argp, char *(*words)(int key))
{
	for (const struct argp_option *option = argp->options; option && !is_end(option); option++)
		if ((option->name || option->key) && !(option->flags & (OPTION_ALIAS | OPTION_HIDDEN)))
			print_option(option, words);
}

void completion_options(const struct argp *argp, char *(*words)(int key))
{
	print_options(argp, words);
	/* The children include argp's own options (--help). The depth of this recursion is limited, because the tables
	 * are constant. */
	for (const struct argp_child *child = argp->children; child && child->argp; child++)
		completion_options(child->argp, words);
	fflush(stdout);
}

void completion_processes(void)
{
	size_t count;
	pid_t *const pids = processes_all(&count);

	for (size_t i = 0; i < count; i++) {
		char *const program = proc_link(pids[i], "exe");
		char *const name = program ? process_started_name(pids[i]) : NULL;
		char *const command = program ? process_command(pids[i], COMMAND_MOST) : NULL;

		/* A process can set its name to any bytes, even to a newline, but each process must be one line. */
		if (name)
			plain_mask(name, strlen(name), '?');
		if (program)
			printf("%d\t%s\t%s\n", (int)pids[i], name, command);
		free(program);
		free(name);
		free(command);
	}
	free(pids);
	fflush(stdout);
}

void help_columns(void)
{
	setenv("ARGP_HELP_FMT", "opt-doc-col=32", 0);
}
