/* An object's file as libdwfl opens it, with its separate debug file. */
#ifndef FT_SYMBOLS_NAMES_DEBUG_FILE_H
#define FT_SYMBOLS_NAMES_DEBUG_FILE_H

#include "symbols/names/name_file.h"
#include "symbols/objects/mapped_object.h"

struct debug_file {
	struct name_file *file;
	char *folders; /* `file` refers to them */
};

/* Opens the file of an object. NULL if there is none, or if it is no longer the one that is mapped. sysroot: debug
 * files are searched there, too; NULL none. Asks no server. Close it with debug_file_close(). */
struct debug_file *debug_file_open(const struct object *object, const char *sysroot);
void debug_file_close(struct debug_file *debug); /* NULL is allowed */

#endif
