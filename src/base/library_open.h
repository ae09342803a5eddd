/* Controls which files a library opens. libdw opens all files that debug information names, waits for a writer if a
 * file is a fifo, and maps each file that it reads. libdw has no option to prevent this. Therefore functrace defines
 * its own open(). It replaces the C library's open() for all libraries, because the dynamic linker prefers the symbols
 * of the program. */
#ifndef FT_BASE_LIBRARY_OPEN_H
#define FT_BASE_LIBRARY_OPEN_H

#include <stdbool.h>

/* From now on, the library that contains the code at `function` opens files by opener(path). opener() returns a
 * descriptor, which the library closes, or -1 and errno. Returns false if the code is not in a shared library. Works
 * for one library only. Must be called before other threads exist. */
bool library_open_by(const void *function, int (*opener)(const char *path));

#endif
