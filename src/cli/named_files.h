/* The files that a command line names. No output may be a file that is read, because writing would destroy that file.
 * No two outputs may be the same file, because only one of them would be left. */
#ifndef FT_CLI_NAMED_FILES_H
#define FT_CLI_NAMED_FILES_H

#include "base/util.h"

struct named_files {
	struct named_file *files;
	size_t count, capacity;
};

/* Adds a file. option: the option that names it; NULL: the file is an input without an option. Does nothing if `path`
 * is NULL. The path "-" means standard input or, if the file is written, standard output. Folders, devices and pipes
 * are left out, because an output there replaces no other file. `option` must stay valid until named_files_free(). */
void named_files_add(struct named_files *files, const char *option, const char *path, bool is_written);
/* Removes an option's files from the list when the option is given again, because only its last value is used. */
void named_files_forget(struct named_files *files, const char *option);
/* Returns a message about an output that is also read or is the file of another output; NULL if there is none. The
 * caller frees it. */
char *named_files_clash(const struct named_files *files);
void named_files_free(struct named_files *files);

/* Returns "-" for a name of standard output in /dev or /proc, because opening such a name again would truncate the file
 * to which standard output is redirected; returns other paths as they are. */
const char *named_files_output(const char *path);

#endif
