#include "config.h"
#include "tracer/model.h"
#include "base/msg.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct task *task_find(struct tracer *t, pid_t tid)
{
	/* Asked for several times a stop. */
	if (!t->last_found || t->last_found->tid != tid)
		t->last_found = hash_get_ptr(&t->tasks, (uint64_t)tid);
	return t->last_found;
}

struct task *task_of_group(struct tracer *t, pid_t pid)
{
	struct task *leader = task_find(t, pid);
	const struct hash_entry *entry;

	if (leader)
		return leader;
	for (size_t i = 0; (entry = hash_next(&t->tasks, &i));) {
		struct task *task = (struct task *)(uintptr_t)entry->value;

		if (task->tgid == pid)
			return task;
	}
	return NULL;
}

struct task *task_new(struct tracer *t, pid_t tid, pid_t tgid, struct process *p, enum task_phase phase)
{
	struct task *task = xcalloc(1, sizeof(*task));

	task->tid = tid;
	task->tgid = tgid;
	task->process = p;
	task->phase = phase;
	task->seat = guard_seat(t->engine, tid);
	if (p)
		process_ref(p);
	hash_set_ptr(&t->tasks, (uint64_t)tid, task);
	return task;
}

void task_free(struct tracer *t, struct task *task)
{
	if (task->slot) {
		task->slot->users--;
		task->slot = NULL;
	}
	calls_drop_task(task);
	guard_leave(t->engine, task->seat);
	t->last_found = NULL;
	t->held_tasks -= task->phase == PHASE_HELD;
	hash_remove(&t->tasks, (uint64_t)task->tid, NULL);
	free(task->kept.bytes);
	free(task);
}

void task_forget(struct tracer *t, struct task *task, const char *how)
{
	struct process *p = task->process;

	/* Its id may be given to another thread, whose name is to be written. */
	if (p && p->last_thread == task->tid)
		p->last_thread = 0;
	task_free(t, task);
	if (p)
		process_unref(p, how);
}

void task_forget_group(struct tracer *t, pid_t tgid, const struct task *keep)
{
	const struct hash_entry *entry;

	for (size_t i = 0; (entry = hash_next(&t->tasks, &i));) {
		struct task *task = (struct task *)(uintptr_t)entry->value;

		if (task == keep || task->tgid != tgid || task->phase != PHASE_LIVE)
			continue;
		task_forget(t, task, NULL);
		i = 0;
	}
}

int task_regs(struct task *task)
{
	const struct arch *arch = task->process->arch;
	struct iovec iov = {&task->regs, sizeof(task->regs)};

	if (task->regs_known)
		return 0;
	if (arch->getregs) {
		if (ptrace(arch->getregs, task->tid, NULL, &task->regs) < 0)
			return -errno;
	} else {
		if (ptrace(PTRACE_GETREGSET, task->tid, (void *)NT_PRSTATUS, &iov) < 0)
			return -errno;
		if (iov.iov_len != arch->regset_size)
			return -ENOTSUP;
	}
	task->regs_known = true;
	task->word_at = 0;
	task->kept.is_valid = false;
	return 0;
}

int task_set_regs(struct task *task)
{
	struct iovec iov = {&task->regs, task->process->arch->regset_size};

	return ptrace(PTRACE_SETREGSET, task->tid, (void *)NT_PRSTATUS, &iov) < 0 ? -errno : 0;
}

int task_set_pc(struct task *task, uint64_t pc)
{
	const struct arch *arch = task->process->arch;

	arch->set_pc(&task->regs, pc);
	return ptrace(PTRACE_POKEUSER, task->tid, (void *)arch->pc_offset, (void *)(uintptr_t)pc) < 0 ? -errno : 0;
}

void task_resume(struct task *task, int sig)
{
	/* ESRCH: it has been killed meanwhile; its end is reported like any other. */
	task->stopped = false;
	task->regs_known = false;
	task->text_serial = task->process ? task->process->text_serial : 0;
	ptrace(PTRACE_CONT, task->tid, NULL, (void *)(long)sig);
}

void task_go_on(struct tracer *t, struct task *task)
{
	if (!is_leaving(t, task->process)) {
		task_resume(task, 0);
		return;
	}
	task->ready = true;
	t->has_broken = true; /* one that could not be stopped before can be let go of now */
}

static int argument_read(void *context, uint64_t address, void *data, size_t size)
{
	return memory_read(context, address, data, size);
}

void task_args(struct task *task, uint64_t args[CALL_ARGS])
{
	const struct arch_memory memory = {.read = argument_read, .context = task->process};
	const struct arch *arch = task->process->arch;

	for (unsigned i = 0; i < CALL_ARGS; i++)
		if (i < arch->argument_registers)
			args[i] = task->regs.words[arch->argument_words[i]];
		else if (arch->argument(&task->regs, i, &memory, &args[i]) < 0)
			args[i] = 0;
}

void task_undo(struct task *task, const struct breakpoint *b)
{
	if (!b->probe || task_regs(task) < 0)
		return;
	struct undone *undone = &task->undone[task->undone_next++ % UNDONE_MAX];

	undone->breakpoint = b;
	undone->sp = task->process->arch->sp(&task->regs);
	task_args(task, undone->args);
}

void task_leave_slot(struct task *task)
{
	struct slot *slot = task->slot;

	if (!slot)
		return;
	task->slot = NULL;
	slot->users--;
	if (task_regs(task) < 0)
		return;
	const struct arch *arch = task->process->arch;
	const uint64_t pc = arch->pc(&task->regs);

	if (pc < slot->address || pc >= slot->address + ARCH_SLOT_SIZE)
		return;
	const uint64_t original = insn_original_pc(&slot->insn, &slot->copy, slot->address, pc);

	if (slot->owner && original == slot->insn.address)
		task_undo(task, slot->owner);
	task_set_pc(task, original);
}

void task_restart_syscall(struct task *task)
{
	if (task->process && task_regs(task) == 0 && task->process->arch->restart_syscall(&task->regs))
		task_set_regs(task);
}

static bool status_number(pid_t tid, const char *key, long *value)
{
	char path[32];
	char *text, *line;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	text = read_file(path, 1 << 16, NULL);
	if (!text)
		return false;
	line = strstr(text, key);
	if (line)
		*value = strtol(line + strlen(key), NULL, 10);
	free(text);
	return line != NULL;
}

bool is_of_group(pid_t tid, pid_t tgid)
{
	return syscall(SYS_tgkill, tgid, tid, 0) == 0 || errno == EPERM;
}

pid_t tgid_of(pid_t tid)
{
	long tgid;

	if (is_of_group(tid, tid))
		return tid;
	return status_number(tid, "\nTgid:", &tgid) ? (pid_t)tgid : 0;
}

pid_t tracer_of(pid_t tid)
{
	long tracer;

	return status_number(tid, "\nTracerPid:", &tracer) ? (pid_t)tracer : 0;
}

long owner_of(pid_t tid)
{
	long owner;

	return status_number(tid, "\nUid:", &owner) ? owner : -1;
}

pid_t parent_of(pid_t tid)
{
	pid_t parent;
	char path[32], text[512];

	/* Half of what its status costs. */
	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (size <= 0)
		return 0;
	text[size] = '\0';
	const char *rest = strrchr(text, ')');

	return rest && sscanf(rest + 2, "%*c %d", &parent) == 1 ? parent : 0;
}

bool task_stat(pid_t tid, char *state, unsigned long *flags)
{
	char path[48];
	char *text, *rest;

	/* For /proc/TID/stat the kernel sums over all threads. */
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", tid, tid);
	text = read_file(path, 1 << 16, NULL);
	if (!text)
		return false;
	rest = strrchr(text, ')');
	const bool ok = rest && sscanf(rest + 2, "%c %*d %*d %*d %*d %*d %lu", state, flags) == 2;

	free(text);
	return ok;
}

bool task_is_alive(pid_t tid)
{
	unsigned long flags;
	char state;

	return task_stat(tid, &state, &flags) && state != 'Z' && state != 'X' && !(flags & PF_KTHREAD);
}

pid_t find_thread(pid_t pid, bool (*wanted)(pid_t tid))
{
	char path[32];
	const struct dirent *entry;
	pid_t found = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *folder = opendir(path);

	while (folder && !found && (entry = readdir(folder))) {
		const pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		found = tid > 0 && wanted(tid) ? tid : 0;
	}
	if (folder)
		closedir(folder);
	return found;
}

pid_t live_thread(pid_t pid)
{
	return task_is_alive(pid) ? pid : find_thread(pid, task_is_alive);
}

bool task_syscall(pid_t tid, long *number, uint64_t *pc)
{
	char path[32];
	unsigned long long sp, after;

	snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
	char *text = read_file(path, 4096, NULL);
	const bool blocked =
		text && sscanf(text, "%ld %*x %*x %*x %*x %*x %*x %llx %llx", number, &sp, &after) == 3 && *number >= 0;

	free(text);
	*pc = blocked ? after : 0;
	return blocked;
}

bool lacks_privileges(pid_t pid)
{
	char path[32];
	unsigned uid, gid, no_new = 1;
	struct stat file;
	struct statvfs mount;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (stat(path, &file) < 0 || !(file.st_mode & (S_ISUID | S_ISGID)) || statvfs(path, &mount) < 0 ||
	    (mount.f_flag & ST_NOSUID))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	char *text = read_file(path, 1 << 16, NULL);
	const char *uids = text ? strstr(text, "\nUid:") : NULL, *gids = text ? strstr(text, "\nGid:") : NULL;
	const char *line = text ? strstr(text, "\nNoNewPrivs:") : NULL;
	const bool known = uids && gids && line && sscanf(uids, "\nUid: %*u %u", &uid) == 1 &&
			   sscanf(gids, "\nGid: %*u %u", &gid) == 1 && sscanf(line, "\nNoNewPrivs: %u", &no_new) == 1;
	const bool lacks = known && !no_new &&
			   (((file.st_mode & S_ISUID) && uid != file.st_uid) ||
			    ((file.st_mode & S_ISGID) && (file.st_mode & S_IXGRP) && gid != file.st_gid));

	free(text);
	return lacks;
}

bool same_memory(pid_t a, pid_t b, bool *known)
{
	const long order = syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0);

	*known = order >= 0;
	return order == 0;
}
