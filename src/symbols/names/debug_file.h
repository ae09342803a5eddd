/* An object's file as libdwfl opens it, with its separate debug file. */
#ifndef FT_SYMBOLS_NAMES_DEBUG_FILE_H
#define FT_SYMBOLS_NAMES_DEBUG_FILE_H

#include "symbols/names/name_file.h"
#include "symbols/objects/mapped_object.h"

struct debug_file {
	struct name_file *file;
	char *folders; /* which `file` keeps */
};

/* NULL: there is no file, or it is no longer the one that is mapped. sysroot: where debug files are looked for, too;
 * NULL none. debug_file_close(). No server is asked. */
struct debug_file *debug_file_open(const struct object *object, const char *sysroot);
void debug_file_close(struct debug_file *debug); /* NULL is allowed */

#endif
