/* Which process is that: what people know it by, from /proc alone. */
#ifndef FT_PROC_WHO_H
#define FT_PROC_WHO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The name that a process was started by, of a task of it: that of the link or script, not of the file behind it;
 * what it has renamed itself to only where nothing else is known. The caller frees it. */
char *who_name(pid_t pid);
/* Its command line, blanks between its words, at most `most` bytes ("..." at the end if it was cut), [name] if it has
 * none. The caller frees it. */
char *who_command(pid_t pid, size_t most);
/* The processes that there are but for this one, in ascending order. The caller frees them. */
pid_t *who_all(size_t *count);
/* The living processes of that name, or of that file's name; a name with a folder is the path of their program or
 * script. The caller frees them, as those of who_all(). */
pid_t *who_named(const char *name, size_t *count);
/* A living process of that name, or run by that path, of which nothing more may be known: another user's. 0: there is
 * none. */
pid_t who_named_of_another(const char *name);
/* The living children of a process; as who_all(). */
pid_t *who_children(pid_t pid, size_t *count);
/* Whether its paths are those of another mount namespace (a container's), to be looked up below /proc/PID/root. A
 * process that has only changed its root has paths that begin at the root of its namespace. */
bool who_has_other_mounts(pid_t pid);

#endif
