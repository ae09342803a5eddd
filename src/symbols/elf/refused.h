/* Files that are there and cannot be used: what a program, its debug information or a trace names. */
#ifndef FT_SYMBOLS_ELF_REFUSED_H
#define FT_SYMBOLS_ELF_REFUSED_H

/* Warns that the file is not read, why, and what to do, once for each path; `what` it is ("debug file"). By any
 * thread. */
void refused_say(const char *what, const char *path, const char *reason);
/* Reasons. */
extern const char refused_cut[], refused_changed[], refused_memory[];
extern const char refused_symbols[]; /* `what` of a program or library of which the rest is read */
/* The same after a failed open_regular() of it, by its errno; nothing where no such file is. errno stays. */
void refused_open(const char *what, const char *path);

#endif
