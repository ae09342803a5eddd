/* Files that functrace writes, under names of its own or of the user's. In a folder that another user can write to, a
 * link of that name may lead to a file that only this user may write. */
#ifndef FT_BASE_OWN_FILE_H
#define FT_BASE_OWN_FILE_H

#include <stdbool.h>

/* Opens a file whose name functrace makes itself (FILE.PID, FILE.maps), to be written from its beginning: a new one, or
 * a regular file of this user's that has this one name, which is emptied and becomes readable for its owner only.
 * Links are not followed. The descriptor, or -errno; -EEXIST: what has that name is not ours. */
int own_file_open(const char *path);
/* The same; a file that is there keeps what is in it. */
int own_file_open_to_append(const char *path);
/* Opens a file that the user names, to be written; it is made (mode 0600) if it is not there, and keeps what is in it.
 * A link is followed if it is this user's or root's, and so is each link that it leads to; else, and if there are too
 * many, -ELOOP. More flags of open(2) may be given, but not O_TRUNC: the caller looks first at what was opened. The
 * descriptor, or -errno. */
int own_file_open_given(const char *path, int flags);

/* What to say of -ELOOP. */
#define OWN_FILE_LINK_WORDS "It is a link of another user's, or links lead in a circle."

#endif
