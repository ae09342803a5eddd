/* Finds processes by the names that users know them by, from /proc alone. */
#ifndef FT_PROC_PROCESS_SEARCH_H
#define FT_PROC_PROCESS_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Returns the name by which a process was started; pid may be the id of any of its threads. This is the name of the
 * link or script, not of the file that it leads to. Returns the name that the process gave itself only if nothing
 * else is known. The caller frees it. */
char *who_name(pid_t pid);
/* Returns the command line of a process, with blanks between its words, cut to `most` bytes ("..." at the end), or
 * [name] if it has none. The caller frees it. */
char *who_command(pid_t pid, size_t most);
/* Returns all processes except this one, in ascending order. The caller frees the array. */
pid_t *who_all(size_t *count);
/* Returns the living processes with that name or file name; a name with a folder is the path of a program or script.
 * The caller frees the array. */
pid_t *who_named(const char *name, size_t *count);
/* Returns a living process of another user that has that name or path, and about which no more may be known; 0:
 * none. */
pid_t who_named_of_another(const char *name);
/* Returns the living children of a process. The caller frees the array. */
pid_t *who_children(pid_t pid, size_t *count);
/* True if the paths of a process are those of another mount namespace (a container's), and are found below
 * /proc/PID/root. For a process that has only changed its root, paths begin at the root of its namespace. */
bool who_has_other_mounts(pid_t pid);

#endif
