/* Files that functrace writes under names of its own. In a folder that another user can write to, a link of that name
 * may lead to a file that only this user may write. */
#ifndef FT_BASE_OWN_FILE_H
#define FT_BASE_OWN_FILE_H

#include <stdbool.h>

/* Opens a file whose name functrace makes itself (FILE.PID, FILE.maps), to be written from its beginning: a new one, or
 * a regular file of this user's that has this one name, which is emptied and becomes readable for its owner only.
 * Links are not followed. The descriptor, or -errno; -EEXIST: what has that name is not ours. */
int own_file_open(const char *path);
/* The same; a file that is there keeps what is in it. */
int own_file_open_to_append(const char *path);
/* Whether the path, which the user has given, may be opened: it is no link of another user's (root's are followed). */
bool own_file_may_follow(const char *path);

#endif
