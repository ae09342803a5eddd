/* The fake kernel's /proc: real descriptors with made-up contents. */
#include "config.h"
#include "tests/unit/fake_kernel.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

int __wrap_open(const char *path, int flags, ...);
int __wrap___open_2(const char *path, int flags);
ssize_t __wrap_readlink(const char *path, char *text, size_t size);
int __wrap_stat(const char *path, struct stat *st);
DIR *__wrap_opendir(const char *path);
struct dirent *__wrap_readdir(DIR *folder);
int __wrap_closedir(DIR *folder);
int __real_open(const char *path, int flags, ...);
ssize_t __real_readlink(const char *path, char *text, size_t size);
int __real_stat(const char *path, struct stat *st);
DIR *__real_opendir(const char *path);
struct dirent *__real_readdir(DIR *folder);
int __real_closedir(DIR *folder);

/* Returns the NAME of "/proc/TID/NAME" or "/proc/TID/task/TID/NAME", and sets *task to the task, or to NULL if there is
 * no such task. Returns NULL for other paths. */
static const char *proc_file(const char *path, struct fake_task **task)
{
	int pid, tid, at = 0;

	if (sscanf(path, "/proc/%d/task/%d/%n", &pid, &tid, &at) == 2 && at) {
		*task = fake_find(tid);
		if (*task && (*task)->tgid != pid && pid != tid)
			*task = NULL;
		return path + at;
	}
	if (sscanf(path, "/proc/%d/%n", &pid, &at) != 1 || !at)
		return NULL;
	*task = fake_find(pid);
	return path + at;
}

static char state_of(const struct fake_task *task)
{
	if (task->state == FAKE_ZOMBIE)
		return 'Z';
	if (task->state != FAKE_RUNS)
		return 't';
	return task->vforking ? 'D' : task->activity;
}

static int with_text(const void *text, size_t size)
{
	const int fd = memfd_create("fake file", MFD_CLOEXEC);

	if (fd < 0 || write(fd, text, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0)
		abort();
	return fd;
}

#define TRAP_BIT 16

/* Writes /proc/TID/stat (proc(5)). The 3rd field is the state, the 4th the parent, the 33rd and 34th are the ignored
 * and handled signals. */
static void print_stat(const struct fake_task *task, char *text, size_t size)
{
	const struct fake_task *leader = fake_leader(task);
	const char trap = leader ? leader->trap : 'd';
	size_t length = (size_t)snprintf(text, size, "%d (prog) %c %d", task->tid, state_of(task), task->parent);

	for (unsigned field = 5; field <= 52; field++)
		length += (size_t)snprintf(text + length, size - length, " %d",
					   (field == 33 && trap == 'i') || (field == 34 && trap == 'h') ? TRAP_BIT : 0);
}

static void print_syscall(const struct fake_task *task, char *text, size_t size)
{
	if (state_of(task) == 'R' || state_of(task) == 't')
		snprintf(text, size, "running\n");
	else
		snprintf(text, size, "%d 0x0 0x0 0x0 0x0 0x0 0x0 0x%llx 0x%llx\n",
			 task->vforking ? fake_arch->syscalls.clone[0] : 232, (unsigned long long)task->stack,
			 (unsigned long long)fake_arch->registers.pc(&task->regs));
}

/* Makes a file with the first bytes of an ELF file, as many as the tracer reads. */
static int open_exe(const struct fake_task *task)
{
	unsigned char head[64] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT};

	if (!task->memory) {
		errno = ENOENT;
		return -1;
	}
	head[18] = EM_X86_64;
	return with_text(head, sizeof(head));
}

static int open_file(struct fake_task *task, const char *name)
{
	char text[512] = "";

	if (!strcmp(name, "stat"))
		print_stat(task, text, sizeof(text));
	else if (!strcmp(name, "status"))
		snprintf(text, sizeof(text),
			 "Name:\tprog\nTgid:\t%d\nPid:\t%d\nTracerPid:\t%d\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n"
			 "Seccomp:\t0\n",
			 task->tgid, task->tid, task->tracer);
	else if (!strcmp(name, "syscall"))
		print_syscall(task, text, sizeof(text));
	else if (!strcmp(name, "comm") || !strcmp(name, "cmdline"))
		snprintf(text, sizeof(text), "prog");
	else if (!strcmp(name, "exe"))
		return open_exe(task);
	else if (!strcmp(name, "mem") && task->memory && task->memory->closed)
		return (int)fake_failed(EACCES);
	else if (!strcmp(name, "mem") && task->memory)
		return fcntl(task->memory->fd, F_DUPFD_CLOEXEC, 3);
	else if (!strcmp(name, "mem"))
		return with_text("", 0);
	else if (strcmp(name, "maps") != 0)
		fake_fail("/proc/%d/%s is not known here", task->tid, name);
	return with_text(text, strlen(text));
}

int __wrap_open(const char *path, int flags, ...)
{
	struct fake_task *task;
	const char *name = proc_file(path, &task);
	va_list args;

	va_start(args, flags);
	const int mode = flags & O_CREAT ? va_arg(args, int) : 0;

	va_end(args);
	if (!name)
		return __real_open(path, flags, mode);
	fake_point("opening %s", path);
	if ((name = proc_file(path, &task)) && task)
		return open_file(task, name);
	errno = ENOENT;
	return -1;
}

/* Fortified code calls this function instead of open() if the compiler does not know the flags. */
int __wrap___open_2(const char *path, int flags)
{
	return __wrap_open(path, flags);
}

ssize_t __wrap_readlink(const char *path, char *text, size_t size)
{
	struct fake_task *task;
	const char *name = proc_file(path, &task);

	if (!name)
		return __real_readlink(path, text, size);
	if (!task || !task->memory || strcmp(name, "exe") != 0) {
		errno = ENOENT;
		return -1;
	}
	return snprintf(text, size, "/bin/prog");
}

int __wrap_stat(const char *path, struct stat *st)
{
	struct fake_task *task;

	if (!proc_file(path, &task))
		return __real_stat(path, st);
	errno = ENOENT;
	return -1;
}

/* ---- Folders ---- */

struct fake_folder {
	size_t count, next;
	struct dirent entries[FAKE_TASKS_MAX];
};

static struct fake_folder *open_folders[4];

static struct fake_folder **folder_place(const void *folder)
{
	for (size_t i = 0; i < ARRAY_SIZE(open_folders); i++)
		if (open_folders[i] == folder)
			return &open_folders[i];
	return NULL;
}

/* Lists the threads of a process, or, if pid is 0, all processes. */
static DIR *list_tasks(pid_t pid)
{
	struct fake_folder **place = folder_place(NULL);
	struct fake_folder *folder = xcalloc(1, sizeof(*folder));
	const struct fake_task *task;

	if (!place)
		abort();
	*place = folder;
	for (size_t i = 0; (task = fake_nth(i)); i++)
		if (task->state != FAKE_GONE && (pid ? task->tgid == pid : task->tid == task->tgid))
			snprintf(folder->entries[folder->count++].d_name, 12, "%d", task->tid);
	return (DIR *)folder;
}

DIR *__wrap_opendir(const char *path)
{
	struct fake_task *task;
	const char *name = proc_file(path, &task);

	if (!name && strcmp(path, "/proc") != 0)
		return __real_opendir(path);
	fake_point("listing %s", path);
	if (!name)
		return list_tasks(0);
	name = proc_file(path, &task);
	if (task && !strcmp(name, "task"))
		return list_tasks(task->tgid);
	errno = ENOENT;
	return NULL;
}

struct dirent *__wrap_readdir(DIR *folder)
{
	struct fake_folder **place = folder_place(folder);

	if (!place)
		return __real_readdir(folder);
	return (*place)->next < (*place)->count ? &(*place)->entries[(*place)->next++] : NULL;
}

int __wrap_closedir(DIR *folder)
{
	struct fake_folder **place = folder_place(folder);

	if (!place)
		return __real_closedir(folder);
	free(*place);
	*place = NULL;
	return 0;
}
