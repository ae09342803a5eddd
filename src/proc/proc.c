/* Reads /proc: see proc.h. */
#include "config.h"
#include "proc/proc.h"
#include "base/util.h"
#include "base/time_units.h"

#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FILE_MAX (1 << 22) /* largest file of /proc that is read, in bytes; the longest are command lines */

char *proc_path(pid_t tid, const char *name)
{
	return xasprintf("/proc/%d/%s", tid, name);
}

char *proc_read(pid_t tid, const char *name, size_t *size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", tid, name);
	return read_file(path, FILE_MAX, size);
}

int proc_open(pid_t tid, const char *name, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", tid, name);
	const int fd = open(path, flags | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

char *proc_link(pid_t tid, const char *name)
{
	char path[64], target[4096];

	snprintf(path, sizeof(path), "/proc/%d/%s", tid, name);
	const ssize_t length = readlink(path, target, sizeof(target));

	return length > 0 ? xstrndup(target, (size_t)length) : NULL;
}

char *proc_comm(pid_t pid, pid_t tid)
{
	char name[32];

	snprintf(name, sizeof(name), "task/%d/comm", tid);
	char *comm = proc_read(pid, name, NULL);

	if (comm)
		comm[strcspn(comm, "\n")] = '\0';
	return comm;
}

size_t proc_path_length(const char *path)
{
	static const char mark[] = " (deleted)";
	const size_t length = strlen(path), end = sizeof(mark) - 1;

	return length > end && !strcmp(path + length - end, mark) ? length - end : length;
}

bool proc_path_take_deleted(char *path)
{
	char *const end = path + proc_path_length(path);
	const bool is_deleted = *end != '\0';

	*end = '\0';
	return is_deleted;
}

/* ---- status ---- */

const char *proc_status_line(const char *status, const char *key)
{
	const size_t length = strlen(key);

	while (status && *status) {
		if (!strncmp(status, key, length) && status[length] == ':')
			return status + length + 1 + strspn(status + length + 1, "\t ");
		status = strchr(status, '\n');
		status += status != NULL;
	}
	return NULL;
}

bool proc_status_number(const char *status, const char *key, unsigned n, int base, uint64_t *value)
{
	const char *at = proc_status_line(status, key);
	char *end;

	if (!at)
		return false;
	for (unsigned i = 0; i < n; i++) {
		at += strcspn(at, "\t \n");
		at += strspn(at, "\t ");
	}
	*value = strtoull(at, &end, base);
	return end > at && *at != '\n';
}

static bool proc_read_number(pid_t tid, const char *key, uint64_t *value)
{
	char *status = proc_read(tid, "status", NULL);
	const bool known = proc_status_number(status, key, 0, 10, value);

	free(status);
	return known;
}

pid_t proc_tgid(pid_t tid)
{
	uint64_t tgid;

	if (proc_is_of_group(tid, tid))
		return tid;
	return proc_read_number(tid, "Tgid", &tgid) ? (pid_t)tgid : 0;
}

pid_t proc_tracer(pid_t tid)
{
	uint64_t tracer;

	return proc_read_number(tid, "TracerPid", &tracer) ? (pid_t)tracer : 0;
}

bool proc_is_own_tracee(pid_t tid)
{
	return proc_tracer(tid) == gettid();
}

long proc_owner(pid_t tid)
{
	uint64_t owner;

	return proc_read_number(tid, "Uid", &owner) ? (long)owner : -1;
}

bool proc_may_trace_all(void)
{
	char *const status = proc_read(getpid(), "status", NULL);
	uint64_t capabilities = 0;

	const bool known = proc_status_number(status, "CapEff", 0, 16, &capabilities);

	free(status);
	return !known || (capabilities >> CAP_SYS_PTRACE & 1);
}

bool proc_lacks_privileges(pid_t pid)
{
	char path[32];
	struct stat file;
	struct statvfs mount;
	uint64_t uid, gid, no_new;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (stat(path, &file) < 0 || !(file.st_mode & (S_ISUID | S_ISGID)) || statvfs(path, &mount) < 0 ||
	    (mount.f_flag & ST_NOSUID))
		return false;
	char *status = proc_read(pid, "status", NULL);
	const bool known = proc_status_number(status, "Uid", 1, 10, &uid) &&
			   proc_status_number(status, "Gid", 1, 10, &gid) &&
			   proc_status_number(status, "NoNewPrivs", 0, 10, &no_new);

	free(status);
	return known && !no_new &&
	       (((file.st_mode & S_ISUID) && uid != file.st_uid) ||
		((file.st_mode & S_ISGID) && (file.st_mode & S_IXGRP) && gid != file.st_gid));
}

/* ---- stat ---- */

/* Field numbers as in proc(5). The fields after the name begin after the last parenthesis, because the name may contain
 * any character. */
enum stat_field {
	FIELD_STATE = 3,
	FIELD_PARENT = 4,
	FIELD_FOREGROUND = 8,
	FIELD_FLAGS = 9,
	FIELD_START = 22,
	FIELD_STACK = 28,
	FIELD_IGNORED = 33,
	FIELD_CAUGHT = 34,
	FIELD_EXIT_CODE = 52,
};

static bool stat_parse(const char *text, struct proc_stat *stat)
{
	static const uint64_t wanted = 1ull << FIELD_PARENT | 1ull << FIELD_FOREGROUND | 1ull << FIELD_FLAGS |
				       1ull << FIELD_START | 1ull << FIELD_STACK | 1ull << FIELD_IGNORED |
				       1ull << FIELD_CAUGHT | 1ull << FIELD_EXIT_CODE;
	/* strtoull() returns a negative number as it is after the conversion to a signed type. */
	uint64_t values[64] = {[FIELD_FOREGROUND] = UINT64_MAX};
	const char *at = strrchr(text, ')');
	unsigned field = FIELD_STATE;
	char state = '\0';

	if (at && at[1] == ' ' && at[2])
		state = *(at += 2);
	else
		at = NULL;
	for (; at; at = strchr(at, ' '), at += at != NULL, field++)
		if (field < ARRAY_SIZE(values) && wanted >> field & 1)
			values[field] = strtoull(at, NULL, 10);
	*stat = (struct proc_stat){.state = state,
				   .parent = (pid_t)values[FIELD_PARENT],
				   .foreground = (pid_t)values[FIELD_FOREGROUND],
				   .flags = values[FIELD_FLAGS],
				   .start = values[FIELD_START],
				   .stack = values[FIELD_STACK],
				   .ignored = values[FIELD_IGNORED],
				   .caught = values[FIELD_CAUGHT],
				   .exit_code = (int)values[FIELD_EXIT_CODE]};
	return field > FIELD_FLAGS;
}

int proc_stat_open(pid_t tid)
{
	char path[48];

	/* /proc/TID/stat would be slower: each time it is read, the kernel adds up the times of all threads. */
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", tid, tid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

bool proc_stat_again(int fd, struct proc_stat *stat)
{
	char text[2048];
	const ssize_t size = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);

	if (size <= 0)
		return false;
	text[size] = '\0';
	return stat_parse(text, stat);
}

bool proc_stat(pid_t tid, struct proc_stat *stat)
{
	const int fd = proc_stat_open(tid);
	const bool known = proc_stat_again(fd, stat);

	if (fd >= 0)
		close(fd);
	return known;
}

bool proc_is_alive(pid_t tid)
{
	struct proc_stat stat;

	return proc_stat(tid, &stat) && stat.state != 'Z' && stat.state != 'X' && !(stat.flags & PROC_KERNEL_THREAD);
}

bool proc_is_runnable(pid_t tid)
{
	struct proc_stat stat;

	return proc_stat(tid, &stat) && stat.state == 'R';
}

bool proc_is_kernel_worker(pid_t tid)
{
	struct proc_stat stat;

	return proc_stat(tid, &stat) && (stat.flags & (PROC_KERNEL_THREAD | PROC_IO_WORKER | PROC_USER_WORKER));
}

#define CLOCKS_NS  1000000u /* longest time between two readings of clocks that are compared, in ns */
#define CLOCKS_MAX 10

uint64_t proc_start_time(pid_t pid)
{
	const long ticks = sysconf(_SC_CLK_TCK);
	uint64_t now, running, after;
	struct proc_stat stat;

	/* Read CLOCK_BOOTTIME between two readings of CLOCK_REALTIME. Repeat this if the two are far apart, because
	 * this thread has probably lost its CPU meanwhile. */
	for (unsigned tries = 0; tries < CLOCKS_MAX; tries++) {
		now = clock_ns(CLOCK_REALTIME);
		running = clock_ns(CLOCK_BOOTTIME);
		after = clock_ns(CLOCK_REALTIME);
		if (after >= now && after - now < CLOCKS_NS)
			break;
	}
	if (ticks <= 0 || !proc_stat(pid, &stat))
		return 0;
	const uint64_t tick = NS_PER_SECOND / (uint64_t)ticks, start = mul_saturated(stat.start, tick);

	if (start > running || running - start >= now)
		return 0;
	/* The clocks are read a little apart from each other, so the last digits differ from call to call. The time is
	 * rounded, because others use it to recognise the process. */
	return (now - (running - start) + tick / 2) / tick * tick;
}

pid_t proc_parent(pid_t pid)
{
	struct proc_stat stat;

	return proc_stat(pid, &stat) ? stat.parent : 0;
}

/* ---- Threads and memory ---- */

/* Calls visit(context, number) for each number among the names in a directory of /proc/PID, until visit() returns
 * false. Skips numbers below `least`. Returns 0 or -errno. */
static int each_number(pid_t pid, const char *name, long least, bool (*visit)(void *context, int number), void *context)
{
	char *path = proc_path(pid, name), *end;
	const struct dirent *entry;
	bool goes_on = true;

	DIR *folder = opendir(path);

	free(path);
	if (!folder)
		return -errno;
	while (goes_on && (entry = readdir(folder))) {
		const long number = strtol(entry->d_name, &end, 10);

		goes_on = *end || end == entry->d_name || number < least || visit(context, (int)number);
	}
	closedir(folder);
	return 0;
}

int proc_each_thread(pid_t pid, bool (*visit)(void *context, pid_t tid), void *context)
{
	return each_number(pid, "task", 1, visit, context);
}

int proc_each_descriptor(pid_t pid, bool (*visit)(void *context, int fd), void *context)
{
	return each_number(pid, "fd", 0, visit, context);
}

struct wanted_thread {
	bool (*wanted)(pid_t tid);
	pid_t found;
};

static bool look_at_thread(void *context, pid_t tid)
{
	struct wanted_thread *search = context;

	if (search->wanted(tid))
		search->found = tid;
	return !search->found;
}

pid_t proc_find_thread(pid_t pid, bool (*wanted)(pid_t tid))
{
	struct wanted_thread search = {.wanted = wanted};

	proc_each_thread(pid, look_at_thread, &search);
	return search.found;
}

pid_t proc_live_thread(pid_t pid)
{
	return proc_is_alive(pid) ? pid : proc_find_thread(pid, proc_is_alive);
}

bool proc_run_time(pid_t tid, uint64_t *ns)
{
	char *text = proc_read(tid, "schedstat", NULL);

	*ns = text ? strtoull(text, NULL, 10) : 0;
	free(text);
	return *ns;
}

bool proc_turns(pid_t tid, uint64_t *turns)
{
	unsigned long long number = 0;
	char *text = proc_read(tid, "schedstat", NULL);
	const bool known = text && sscanf(text, "%*u %*u %llu", &number) == 1;

	free(text);
	*turns = number;
	return known;
}

bool proc_is_of_group(pid_t tid, pid_t tgid)
{
	return syscall(SYS_tgkill, tgid, tid, 0) == 0 || errno == EPERM;
}

bool proc_syscall_at(pid_t tid, long *number, uint64_t *pc, uint64_t *sp)
{
	unsigned long long stack, after;
	char *text = proc_read(tid, "syscall", NULL);
	const bool blocked = text &&
			     sscanf(text, "%ld %*x %*x %*x %*x %*x %*x %llx %llx", number, &stack, &after) == 3 &&
			     *number >= 0;

	free(text);
	*sp = blocked ? stack : 0;
	*pc = blocked ? after : 0;
	return blocked;
}

bool proc_syscall(pid_t tid, long *number, uint64_t *pc)
{
	uint64_t sp;

	return proc_syscall_at(tid, number, pc, &sp);
}

bool proc_place(pid_t tid, uint64_t *pc, uint64_t *sp)
{
	unsigned long long sp_now, pc_now;
	char *text = proc_read(tid, "syscall", NULL);
	const bool known = text && sscanf(text, "-1 %llx %llx", &sp_now, &pc_now) == 2;

	free(text);
	*sp = known ? sp_now : 0;
	*pc = known ? pc_now : 0;
	return known;
}

bool proc_same_memory(pid_t a, pid_t b, bool *known)
{
	const long order = syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0);

	*known = order >= 0;
	return order == 0;
}
