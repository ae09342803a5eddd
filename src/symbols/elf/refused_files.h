/* Warns about files that are named in a program, debug information or a trace, and exist but cannot be used. */
#ifndef FT_SYMBOLS_ELF_REFUSED_FILES_H
#define FT_SYMBOLS_ELF_REFUSED_FILES_H

/* Prints a warning that the file is not read, with the reason and advice; once for each path. what: kind of the file
 * ("debug file"). Any thread may call it. */
void refused_say(const char *what, const char *path, const char *reason);
/* Values of `reason` for which the warning has specific advice. */
extern const char refused_cut[], refused_changed[], refused_memory[];
extern const char refused_symbols[]; /* value of `what` for a program or library that is read without its symbols */
/* Prints the same warning after open_regular() has failed to open the file. The reason is errno, which is preserved.
 * Does nothing if the file does not exist. */
void refused_open(const char *what, const char *path);

#endif
