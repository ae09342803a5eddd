/* Opens files that functrace writes. In a folder that another user can write to, a link of the expected name may point
 * to a file that only functrace's user may write. These functions do not follow such a link. */
#ifndef FT_BASE_OWN_FILE_H
#define FT_BASE_OWN_FILE_H

#include <stdbool.h>

/* Opens a file whose name functrace makes itself (FILE.PID, FILE.maps), for writing from its beginning. Creates it, or
 * empties an existing regular file of this user that has only one hard link. In both cases only the owner may read it
 * then. Does not follow symbolic links. Returns a descriptor or -errno; -EEXIST: the existing file is not such a
 * file. */
int own_file_open(const char *path);
/* Does the same as own_file_open(), but keeps the content and the mode of an existing file, and appends to it. */
int own_file_open_to_append(const char *path);
/* Appends a path and a NUL to a list of paths. A NUL ends each path, because it may contain any other byte. */
void own_file_list_path(const char *list, const char *path);
/* Opens a file that the user names, for writing. Creates it with mode 0600 if it does not exist; keeps the content of
 * an existing file. Follows a link, and the links to which it leads, if they belong to this user or to root; otherwise,
 * or after too many links, fails with -ELOOP. `flags` are further flags of open(2), but not O_TRUNC, because the caller
 * first checks the opened file. Returns a descriptor or -errno. */
int own_file_open_given(const char *path, int flags);

/* Text of a message that explains -ELOOP. */
#define OWN_FILE_LINK_WORDS "A link in the path belongs to another user, or the links lead in a circle."

#endif
