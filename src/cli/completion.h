/* What --help prints, and what the shells' completion asks the programs: --list-options, and --list-processes of
 * functrace. By asking, it knows each option of the program that is there (completion/). */
#ifndef FT_CLI_COMPLETION_H
#define FT_CLI_COMPLETION_H

#include <argp.h>

/* Prints the options that --help shows, those of argp itself too, a line each of four columns with tabs between:
 *   its names          -e --module --track
 *   its argument       none, required or optional; a comma behind where it is a list with commas
 *   what that can be   words with blanks between: FILE, DIR, PID (a process that runs), SIGNAL, @FILE (behind an @); a
 *                      word in small letters is meant as it stands. A lone - if nothing is known
 *   its help
 * What an argument can be is read from its name in the table ("auto|pin|free", "DIR|FILE|-"); words() says it where the
 * name does not: it returns the text, as the name would have it, or with commas or blanks for the bars, which is freed
 * here, or NULL. */
void completion_options(const struct argp *argp, char *(*words)(int key));

/* Prints the processes that have a program, a line each: its number, the name that -t knows it by, its command line,
 * with tabs between. */
void completion_processes(void);

/* Has argp print --help in two columns of which the first holds the names of nearly all options. The environment's
 * ARGP_HELP_FMT, which argp reads, says otherwise where it is set. */
void help_columns(void);

#endif
