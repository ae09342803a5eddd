/* An object's file, opened by libdwfl, with its separate debug file. */
#ifndef FT_SYMBOLS_NAMES_DEBUG_FILE_H
#define FT_SYMBOLS_NAMES_DEBUG_FILE_H

#include "symbols/names/name_file.h"
#include "symbols/objects/mapped_object.h"

struct debug_file {
	struct name_file *file;
	char *folders; /* folders of separate debug files; owned here, because `file` only refers to them */
};

/* Opens an object's file, to read its debug information and symbols. Returns NULL if there is no file, or if another
 * file is at its path now. sysroot: separate debug files are also searched for in its folder usr/lib/debug; NULL: none.
 * Does not ask debuginfod servers. The caller closes the result with debug_file_close(). */
struct debug_file *debug_file_open(const struct object *object, const char *sysroot);
void debug_file_close(struct debug_file *debug); /* NULL is allowed */

#endif
