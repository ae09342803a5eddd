/* Debug files that are there and cannot be used. */
#ifndef FT_SYMBOLS_REFUSED_H
#define FT_SYMBOLS_REFUSED_H

/* Warns that the debug file is not read, and why, once for each path. By any thread. */
void refused_say(const char *path, const char *reason);
extern const char refused_cut[]; /* a reason */
/* The same after a failed open_regular() of it, by its errno; nothing where no such file is. errno stays. */
void refused_open(const char *path);

#endif
