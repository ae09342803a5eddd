/* Warns about files that exist but cannot be used: those that a program, its debug information or a trace names. */
#ifndef FT_SYMBOLS_ELF_REFUSED_H
#define FT_SYMBOLS_ELF_REFUSED_H

/* Warns that the file is not read, why, and what to do; once for each path. what: the kind of file ("debug file"). Any
 * thread may call it. */
void refused_say(const char *what, const char *path, const char *reason);
/* Reasons for which the warning has its own advice. */
extern const char refused_cut[], refused_changed[], refused_memory[];
extern const char refused_symbols[]; /* `what`, for a program or library that is read without its symbols */
/* The same after open_regular() of the file has failed, by errno, which is kept. Does nothing if there is no such
 * file. */
void refused_open(const char *what, const char *path);

#endif
