/* What a library opens by itself. libdw opens the files that debug information names, whatever they are: of a fifo it
 * waits for a writer, and it maps what it reads. No option keeps it from that. So this program has an open() of its
 * own, which takes the place of the C library's for the libraries, too, as any symbol of a program does. */
#ifndef FT_BASE_LIBRARY_OPEN_H
#define FT_BASE_LIBRARY_OPEN_H

#include <stdbool.h>

/* From now on the library that has the code at `function` opens files by opener(path), which returns a descriptor that
 * the library closes, or -1 and errno. False: that code is not in a library of its own. For one library, before there
 * are other threads. */
bool library_open_by(const void *function, int (*opener)(const char *path));

#endif
