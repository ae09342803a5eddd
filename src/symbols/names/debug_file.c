/* Opens an object's debug information, which is in the object's file or in a separate one. */
#include "config.h"
#include "symbols/names/debug_file.h"
#include "base/msg.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct debug_file *debug_file_open(const struct object *object, const char *sysroot)
{
	struct stat st;
	const int fd = object->open_path ? open_regular(object->open_path, &st) : -1;

	if (fd < 0)
		return NULL;
	elf_version(EV_CURRENT);
	struct debug_file *debug = xcalloc(1, sizeof(*debug));
	const char *reason = NULL;

	debug->folders = name_file_debug_path(&(struct names_options){.sysroot = sysroot});
	debug->file = name_file_new(fd, &st, object->open_path, object->path, false, debug->folders, &reason);
	close(fd);
	if (reason)
		msg_debug(DBG_SYMBOLS, 1, "%s: %s", object->path, reason);
	/* The file may have been replaced since it was mapped. */
	if (debug->file && debug->file->machine == object->file->machine &&
	    !strcmp(debug->file->build_id, object->file->build_id))
		return debug;
	debug_file_close(debug);
	return NULL;
}

void debug_file_close(struct debug_file *debug)
{
	if (!debug)
		return;
	name_file_free(debug->file);
	free(debug->folders);
	free(debug);
}
