/* The layout of --help, and two options for the shells' completion scripts (completion/): --list-options of both
 * programs, and --list-processes of functrace. The scripts call the programs with these options, so that the scripts
 * offer exactly the options of the installed program. */
#ifndef FT_CLI_COMPLETION_H
#define FT_CLI_COMPLETION_H

#include <argp.h>

/* Prints the options that --help shows, including argp's own, one per line, in four columns with tabs between:
 *   names              -e --module --track
 *   argument           none, required or optional; a comma follows if the argument is a list with commas
 *   values             words with blanks between: FILE, DIR, PID (a running process), SIGNAL, @FILE (@ and a file);
 *                      a word in small letters is a literal value; "-" if nothing is known
 *   help               as --help shows it
 *
 * The values are parsed from the argument's name in the table ("auto|pin|free", "DIR|FILE|-"). For options whose values
 * are not listed there, words(key) returns a list, separated by bars, commas or blanks, which is freed here; for other
 * options words() returns NULL. */
void completion_options(const struct argp *argp, char *(*words)(int key));

/* Prints all processes that have a program, one per line: the pid, the name by which -t finds the process, and the
 * command line, separated by tabs. */
void completion_processes(void);

/* Makes argp print --help in two columns; the first is wide enough for the names of nearly all options. Does nothing if
 * ARGP_HELP_FMT is set in the environment. */
void help_columns(void);

#endif
