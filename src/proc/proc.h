/* Gets facts about tasks and processes from /proc and a few system calls. A fact may be outdated when the caller gets
 * it, because tasks end and the kernel reuses their ids. */
#ifndef FT_PROC_PROC_H
#define FT_PROC_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns the path of a file of /proc/TID, which the caller frees. */
char *proc_path(pid_t tid, const char *name);
/* Reads a file of /proc/TID as text, which the caller frees; *size (may be NULL) gets its size. Returns NULL if the
 * task has ended or the file cannot be read. */
char *proc_read(pid_t tid, const char *name, size_t *size);

/* Opens a file of /proc/TID with these flags (O_RDONLY or O_RDWR), close-on-exec. Returns a descriptor or -errno. */
int proc_open(pid_t tid, const char *name, int flags);
/* Reads a link of /proc/TID ("exe", "cwd", "fd/3"). Returns the path in it, which the caller frees; NULL: the task has
 * ended, or there is no such link. */
char *proc_link(pid_t tid, const char *name);
/* Returns the name of a thread, at most 15 bytes, which the caller frees; NULL: the thread has ended. */
char *proc_comm(pid_t pid, pid_t tid);
/* Returns the length of a path without " (deleted)", which the kernel appends to the path of a deleted file. */
size_t proc_path_length(const char *path);
/* Removes a final " (deleted)" from a path. Returns true if there was one. */
bool proc_path_take_deleted(char *path);

/* ---- /proc/TID/status (proc(5)) ---- */

/* Returns the text after "KEY:" and blanks, or NULL if there is no such line. The text continues beyond the line's end.
 * status: the result of proc_read(tid, "status", NULL), may be NULL. */
const char *proc_status_line(const char *status, const char *key);
/* Gets the n-th number (0: the first) of the line of `key`. Returns false if there is none. */
bool proc_status_number(const char *status, const char *key, unsigned n, int base, uint64_t *value);

/* Returns the process that a task belongs to; 0: the task has ended. */
pid_t proc_tgid(pid_t tid);
/* Returns the thread that traces a task; 0: none, or the task has ended. */
pid_t proc_tracer(pid_t tid);
/* Returns true if the calling thread traces the task. */
bool proc_is_own_tracee(pid_t tid);
/* Returns the real user id of a task's owner; -1: unknown. */
long proc_owner(pid_t tid);
/* Returns true if functrace has the capability SYS_PTRACE, with which it can trace the processes of all users. Returns
 * true also if this is unknown. */
bool proc_may_trace_all(void);
/* Returns true if a process's program has the set-user-ID or set-group-ID bit, but the process runs without the rights
 * that the bit gives. The kernel withholds these rights at execve while a tracer without privileges is attached. */
bool proc_lacks_privileges(pid_t pid);

/* ---- /proc/TID/stat (proc(5)) ---- */

struct proc_stat {
	char state; /* 'R', 'S', 'D', 'T', 't', 'Z', 'X' */
	pid_t parent;
	pid_t foreground;         /* the foreground process group of its terminal, or -1 */
	unsigned long flags;      /* PROC_KERNEL_THREAD and others */
	uint64_t ignored, caught; /* masks of ignored and handled signals */
	uint64_t start;           /* start time, in clock ticks since boot */
	uint64_t stack;           /* beginning of the stack; 0: unknown, because the task may not be inspected */
	int exit_code;            /* for a stopped task, the signal that the kernel delivers when the task continues */
};

#define PROC_KERNEL_THREAD 0x00200000ul
#define PROC_KILLED        0x00000400ul /* a signal has killed the task, or is about to */
/* Threads that work for the kernel but belong to a program's process: io_uring's, vhost's. */
#define PROC_IO_WORKER   0x00000010ul
#define PROC_USER_WORKER 0x00004000ul

/* Reads /proc/TID/stat of a task. Returns false if there is no such task; a zombie is still a task. */
bool proc_stat(pid_t tid, struct proc_stat *stat);
/* Opens a descriptor for proc_stat_again(), which costs a quarter of proc_stat() per call. Returns -1 on error. */
int proc_stat_open(pid_t tid);
/* Does the same as proc_stat() with a descriptor of proc_stat_open(). */
bool proc_stat_again(int fd, struct proc_stat *stat);

/* Returns true if the task is no kernel thread and has not ended. */
bool proc_is_alive(pid_t tid);
/* Returns true if the task runs or waits for a CPU. */
bool proc_is_runnable(pid_t tid);
/* Returns true if the task works for the kernel, as a kernel thread or as a thread of a program's process. Such a task
 * cannot be traced. */
bool proc_is_kernel_worker(pid_t tid);
/* Returns the start time of a process in nanoseconds since the Epoch, exact to a clock tick (10 ms); 0: unknown. */
uint64_t proc_start_time(pid_t pid);
/* Returns the parent of a process; 0: unknown. */
pid_t proc_parent(pid_t pid);

/* ---- Threads and memory ---- */

/* Calls visit(context, tid) for each thread of a process until visit() returns false. Returns 0, or -errno: the process
 * has ended, or may not be inspected. */
int proc_each_thread(pid_t pid, bool (*visit)(void *context, pid_t tid), void *context);
/* Does the same as proc_each_thread() for each open descriptor of a task. */
int proc_each_descriptor(pid_t tid, bool (*visit)(void *context, int fd), void *context);
/* Returns the first thread of a process for which wanted(tid) is true; 0: there is none. */
pid_t proc_find_thread(pid_t pid, bool (*wanted)(pid_t tid));
/* Returns the leader, or another living thread if the leader has ended and has no memory any more; 0 if there is
 * none. */
pid_t proc_live_thread(pid_t pid);
/* Gets the time that a task has run on a CPU, in ns. Returns false if this time is 0, the task has ended, or this
 * kernel does not measure the time. */
bool proc_run_time(pid_t tid, uint64_t *ns);
/* Gets the number of times that a task has been scheduled on a CPU. Returns false if the task has ended or this kernel
 * does not count this. */
bool proc_turns(pid_t tid, uint64_t *turns);
/* Returns true if the task belongs to that process, also if the task is a zombie; false if either does not exist. Does
 * not read /proc. */
bool proc_is_of_group(pid_t tid, pid_t tgid);
/* Gets the system call that a task is blocked in, and the pc after the call's instruction. Returns false if the task is
 * not blocked in a system call. */
bool proc_syscall(pid_t tid, long *number, uint64_t *pc);
/* Does the same as proc_syscall(), and gets the task's stack pointer. */
bool proc_syscall_at(pid_t tid, long *number, uint64_t *pc, uint64_t *sp);
/* Gets the pc and sp of a task that is stopped outside of system calls. Returns false for any other task. */
bool proc_place(pid_t tid, uint64_t *pc, uint64_t *sp);
/* Returns true if two tasks use the same memory (kcmp(2)). *known is false if the kernel could not answer. */
bool proc_same_memory(pid_t a, pid_t b, bool *known);

#endif
