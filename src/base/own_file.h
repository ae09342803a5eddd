/* Opens files that functrace writes. In a folder that another user can write to, a link of the same name may lead to
 * a file that only this user may write. */
#ifndef FT_BASE_OWN_FILE_H
#define FT_BASE_OWN_FILE_H

#include <stdbool.h>

/* Opens a file whose name functrace makes itself (FILE.PID, FILE.maps), for writing from its beginning. It is a
 * new file, or a regular file of this user with a single name, which is emptied and becomes readable for its owner
 * only. Does not follow links. Returns a descriptor or -errno; -EEXIST: the name belongs to a file that is not
 * functrace's. */
int own_file_open(const char *path);
/* The same, but keeps the content of an existing file. */
int own_file_open_to_append(const char *path);
/* Opens a file that the user names, for writing. Creates it with mode 0600 if it does not exist; keeps the content of
 * an existing file. Follows a link if it belongs to this user or root, and its target in the same way; otherwise, or
 * after too many links, fails with -ELOOP. Other flags of open(2) may be given, except O_TRUNC: the caller first
 * checks the opened file. Returns a descriptor or -errno. */
int own_file_open_given(const char *path, int flags);

/* A message's explanation of -ELOOP. */
#define OWN_FILE_LINK_WORDS "It is a link of another user's, or links lead in a circle."

#endif
