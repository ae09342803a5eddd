/* What --help prints, and what the shells' completion scripts (completion/) ask the programs for: --list-options,
 * and --list-processes of functrace. Because they ask, they offer exactly the options of the installed program. */
#ifndef FT_CLI_COMPLETION_H
#define FT_CLI_COMPLETION_H

#include <argp.h>

/* Prints the options that --help shows, including argp's own, one per line, in four columns with tabs between:
 *   names              -e --module --track
 *   argument           none, required or optional; followed by a comma if it is a list with commas
 *   values             words with blanks between: FILE, DIR, PID (a running process), SIGNAL, @FILE (@ and a file);
 *                      a word in small letters is a literal value; "-" if nothing is known
 *   help
 * The values are read from the argument's name in the table ("auto|pin|free", "DIR|FILE|-"). For an option whose name
 * there does not list them, words() returns such a text, with bars, commas or blanks between; it is freed here. For
 * other options words() returns NULL. */
void completion_options(const struct argp *argp, char *(*words)(int key));

/* Prints the processes that have a program, one per line: pid, the name by which -t finds the process, and command
 * line, with tabs between. */
void completion_processes(void);

/* Makes argp print --help in two columns, the first wide enough for the names of nearly all options. If
 * ARGP_HELP_FMT is set in the environment, that format stays. */
void help_columns(void);

#endif
