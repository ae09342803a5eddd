/* Reading files that a library has mapped. */
#ifndef FT_SYMBOLS_MAPPED_H
#define FT_SYMBOLS_MAPPED_H

#include <stdbool.h>

/* Calls read(context), which reads mapped files. False: a file was cut meanwhile, or it is damaged and the library lost
 * its way, which is a SIGBUS or a SIGSEGV for who reads it; then `read` has ended in the midst of what it did, and
 * neither what the library had of that file nor what `read` was about to change is used or freed any more. For one
 * thread; `read` does not call it again. */
bool mapped_read(void (*read)(void *context), void *context);

#endif
