/* What /proc and a few system calls say of tasks and processes. All of it may be out of date when the caller gets it:
 * tasks end, and ids are given again. */
#ifndef FT_PROC_PROC_H
#define FT_PROC_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The path of a file of /proc/TID, which the caller frees. */
char *proc_path(pid_t tid, const char *name);
/* A file of /proc/TID as text, which the caller frees, and its size (may be NULL); NULL: the task has gone, or the
 * file cannot be read. */
char *proc_read(pid_t tid, const char *name, size_t *size);

/* Opens a file of /proc/TID, close-on-exec: a descriptor, or -errno. flags: O_RDONLY or O_RDWR. */
int proc_open(pid_t tid, const char *name, int flags);
/* Where a link of /proc/TID leads ("exe", "cwd", "fd/3"), which the caller frees; NULL: the task has gone, or there is
 * no such link. */
char *proc_link(pid_t tid, const char *name);
/* The name of a thread, at most 15 bytes, which the caller frees; NULL: it has gone. */
char *proc_comm(pid_t pid, pid_t tid);
/* The length of a path without the mark " (deleted)" that the kernel puts behind that of a file that is no more. */
size_t proc_path_length(const char *path);

/* ---- /proc/TID/status (proc(5)) ---- */

/* The text behind "KEY:" and blanks in what proc_read(tid, "status", NULL) gave (NULL is allowed); NULL if there is no
 * such line. The line goes on to its line end. */
const char *proc_status_line(const char *status, const char *key);
/* The n-th number (0 the first) of that line. False if there is none. */
bool proc_status_number(const char *status, const char *key, unsigned n, int base, uint64_t *value);

/* The process that a task belongs to; 0: it has gone. */
pid_t proc_tgid(pid_t tid);
/* The thread that traces a task; 0 none, or it has gone. */
pid_t proc_tracer(pid_t tid);
/* The real user id of a task's owner; -1 unknown. */
long proc_owner(pid_t tid);
/* Whether functrace has the capability SYS_PTRACE, with which the processes of all users can be traced; so if that is
 * not known. */
bool proc_may_trace_all(void);
/* Whether a process's program has the set-user-ID or set-group-ID bit and runs without what that gives: the kernel
 * takes it away while a tracer without rights of its own watches. */
bool proc_lacks_privileges(pid_t pid);

/* ---- /proc/TID/stat (proc(5)) ---- */

struct proc_stat {
	char state; /* 'R', 'S', 'D', 'T', 't', 'Z', 'X' */
	pid_t parent;
	pid_t foreground;         /* the process group in its terminal's foreground, -1 none */
	unsigned long flags;      /* PROC_KERNEL_THREAD... */
	uint64_t ignored, caught; /* signals */
	uint64_t start;           /* when it was started, in clock ticks since the system was */
	int exit_code;            /* of a stopped task: the signal that its stop has still to deliver */
};

#define PROC_KERNEL_THREAD 0x00200000ul
#define PROC_KILLED        0x00000400ul /* a signal has ended it, or is about to have */
/* One that works for the kernel among a program's own threads: io_uring's, vhost's. */
#define PROC_IO_WORKER   0x00000010ul
#define PROC_USER_WORKER 0x00004000ul

/* False: the task has gone. */
bool proc_stat(pid_t tid, struct proc_stat *stat);
/* To read it again and again at a quarter of the price: a descriptor for proc_stat_again(), or -1. */
int proc_stat_open(pid_t tid);
/* proc_stat() by that descriptor. */
bool proc_stat_again(int fd, struct proc_stat *stat);

/* Whether the task is a program's, and has not ended. */
bool proc_is_alive(pid_t tid);
/* Whether the task works for the kernel, alone or among a program's own threads: it cannot be traced. */
bool proc_is_kernel_worker(pid_t tid);
/* When a process was started, in nanoseconds since the Epoch, to a clock tick (10 ms); 0 unknown. */
uint64_t proc_start_time(pid_t pid);
/* The parent of a process; 0 unknown. */
pid_t proc_parent(pid_t pid);

/* ---- Threads and memory ---- */

/* Calls `visit` for each thread of a process until it says false. 0, or -errno: the process has gone, or may not be
 * looked at. */
int proc_each_thread(pid_t pid, bool (*visit)(void *context, pid_t tid), void *context);
/* The same for each open descriptor of a task. */
int proc_each_descriptor(pid_t tid, bool (*visit)(void *context, int fd), void *context);
/* The first thread of a process for which `wanted` is true; 0 none. */
pid_t proc_find_thread(pid_t pid, bool (*wanted)(pid_t tid));
/* The leader, or a thread that lives on when the leader has ended and has no memory any more; 0 if none does. */
pid_t proc_live_thread(pid_t pid);
/* For how long a task has been on a CPU, in ns. False: it has gone, or this kernel does not count. */
bool proc_run_time(pid_t tid, uint64_t *ns);
/* How often a task has come on a CPU. False: it has gone, or this kernel does not count. */
bool proc_turns(pid_t tid, uint64_t *turns);
/* Whether a task belongs to that process, without a look at /proc; false if either has gone. */
bool proc_is_of_group(pid_t tid, pid_t tgid);
/* The system call that a task is blocked in, and the pc behind its instruction; false if it is in none. */
bool proc_syscall(pid_t tid, long *number, uint64_t *pc);
/* The same with its stack pointer. */
bool proc_syscall_at(pid_t tid, long *number, uint64_t *pc, uint64_t *sp);
/* Where a task stands that is stopped outside of all system calls. */
bool proc_place(pid_t tid, uint64_t *pc, uint64_t *sp);
/* How many bytes the mapping of a task's memory has that begins at the address; 0: none does. */
uint64_t proc_mapping_size(pid_t tid, uint64_t address);
/* Whether two tasks use the same memory (kcmp(2)); *known: whether the kernel says so or otherwise. */
bool proc_same_memory(pid_t a, pid_t b, bool *known);

#endif
