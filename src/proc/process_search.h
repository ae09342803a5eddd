/* Finds processes by name, parent or memory, and finds the names of processes. */
#ifndef FT_PROC_PROCESS_SEARCH_H
#define FT_PROC_PROCESS_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Returns the name by which a process was started; pid may be the id of any of its threads. For a link this is the
 * link's name, not that of the file to which it points; for a script it is the script's name, not that of its
 * interpreter. If /proc shows no such name, returns the name that the process gave itself. The caller frees the
 * name. */
char *process_started_name(pid_t pid);
/* Returns the command line of a process, with blanks between its words, cut to `most` bytes ("..." at the end), or
 * [name] if it has none. The caller frees it. */
char *process_command(pid_t pid, size_t most);
/* Returns all processes except this one, in ascending order. The caller frees the array. */
pid_t *processes_all(size_t *count);
/* Returns the living processes whose name or file name is `name`. A `name` with a '/' is the path of a program or
 * script. If no process runs that file, returns the processes that have this path in their command line, perhaps
 * relative to another folder. The caller frees the array. */
pid_t *processes_named(const char *name, size_t *count);
/* Returns a living process of another user whose name or path is `name`; 0: there is none. Needs only the files of
 * /proc that all users may read. */
pid_t process_of_another_named(const char *name);
/* Returns the living children of a process. The caller frees the array. */
pid_t *process_children(pid_t pid, size_t *count);
/* Returns true if both processes are alive and use the same memory, as far as this process may compare them. Compares
 * living threads, because a leader that has ended has no memory, even if its process lives. */
bool processes_share_memory(pid_t one, pid_t other);
/* Returns the other living processes that use the memory of a process (CLONE_VM without CLONE_THREAD), as far as this
 * process may compare them. The caller frees the array. */
pid_t *processes_in_memory(pid_t pid, size_t *count);
/* Returns true if the paths of a process belong to another mount namespace (a container's): then functrace finds the
 * process's files below /proc/PID/root. Returns false for a process that has only changed its root (chroot), because
 * its paths in /proc begin at the root of the mount namespace. */
bool process_has_other_mounts(pid_t pid);

#endif
