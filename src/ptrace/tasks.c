/* The table of tasks, their registers, and ptrace's requests: see tasks.h. */
#include "config.h"
#include "ptrace/tasks.h"
#include "ptrace/target_memory.h"
#include "arch/abi.h"
#include "proc/proc.h"
#include "base/msg.h"
#include "base/timed.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

const unsigned long task_options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
				   PTRACE_O_TRACEVFORKDONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT |
				   PTRACE_O_TRACESYSGOOD;

#define AREA_SIZE 32 /* bytes of a buffer for a register set or a struct user_desc, which has 16 */

/* ---- The table ---- */

struct task *task_find_slow(struct tracer *t, pid_t tid)
{
	t->last_found = hash_get_ptr(&t->tasks, (uint64_t)tid);
	return t->last_found;
}

struct task *tasks_next(struct tracer *t, size_t *position)
{
	return hash_next_ptr(&t->tasks, position);
}

struct task *task_of_group(struct tracer *t, pid_t pid)
{
	struct task *task = task_find(t, pid);

	if (task)
		return task;
	for (size_t i = 0; (task = tasks_next(t, &i));)
		if (task->tgid == pid)
			return task;
	return NULL;
}

void task_join(struct task *task, struct process *p)
{
	task->process = p;
	task->sibling = p->tasks;
	task->link = &p->tasks;
	if (p->tasks)
		p->tasks->link = &task->sibling;
	p->tasks = task;
	p->task_count++;
	p->references++;
}

struct process *task_part(struct task *task)
{
	struct process *p = task->process;

	if (!p)
		return NULL;
	*task->link = task->sibling;
	if (task->sibling)
		task->sibling->link = task->link;
	p->task_count--;
	task->process = NULL;
	task->sibling = NULL;
	task->link = NULL;
	return p;
}

struct task *task_new(struct tracer *t, pid_t tid, pid_t tgid, struct process *p, enum task_phase phase)
{
	struct task *task = xcalloc(1, sizeof(*task));

	task->tid = tid;
	task->tgid = tgid;
	task->phase = phase;
	task->at_stop = 1;
	task->journal_task = guard_add_task(t->engine, tid);
	if (p)
		task_join(task, p);
	hash_set_ptr(&t->tasks, (uint64_t)tid, task);
	return task;
}

void task_delete(struct tracer *t, struct task *task)
{
	guard_remove_task(t->engine, task->journal_task);
	t->last_found = NULL;
	t->held_tasks -= task->phase == PHASE_HELD;
	hash_remove(&t->tasks, (uint64_t)task->tid, NULL);
	free(task);
}

void task_rename(struct tracer *t, struct task *task, pid_t tid)
{
	hash_remove(&t->tasks, (uint64_t)task->tid, NULL);
	t->last_found = NULL;
	guard_remove_task(t->engine, task->journal_task);
	task->tid = tid;
	task->journal_task = guard_add_task(t->engine, tid);
	hash_set_ptr(&t->tasks, (uint64_t)tid, task);
}

void task_replace(struct task *leader)
{
	*leader = (struct task){.tid = leader->tid,
				.tgid = leader->tid,
				.journal_task = leader->journal_task,
				.phase = PHASE_LIVE,
				.process = leader->process,
				.sibling = leader->sibling,
				.link = leader->link,
				.at_stop = leader->at_stop + 1,
				.hits = leader->hits,
				.calls = leader->calls,
				.life = leader->life};
}

pid_t process_proc_task(const struct process *p)
{
	const struct task *leader = task_find(p->tracer, p->pid);

	if (p->anchor)
		return p->anchor;
	if (leader && leader->process == p && !leader->exit_event_seen && !leader->has_left_mm)
		return p->pid;
	FOR_EACH_TASK(task, p)
		if (task_has_memory(task))
			return task->tid;
	return p->pid;
}

/* ---- Registers ---- */

/* The first bytes of the executable of a task. */
struct head {
	pid_t tid;
	int error;
	ssize_t size;
	unsigned char bytes[20];
};

static void tasks_read_head(void *context)
{
	struct head *const head = context;
	const int fd = proc_open(head->tid, "exe", O_RDONLY);

	if (fd < 0) {
		head->error = -fd;
		return;
	}
	head->size = read(fd, head->bytes, sizeof(head->bytes));
	head->error = head->size < 0 ? errno : 0;
	close(fd);
}

static const struct arch *arch_of(const struct head *head)
{
	const unsigned char *const bytes = head->bytes;

	if (head->size != (ssize_t)sizeof(head->bytes) || memcmp(bytes, ELFMAG, SELFMAG))
		return NULL;
	const uint16_t machine = bytes[EI_DATA] == ELFDATA2MSB ? (uint16_t)(bytes[18] << 8 | bytes[19])
							       : (uint16_t)(bytes[19] << 8 | bytes[18]);

	return arch_for_elf(machine, bytes[EI_CLASS]);
}

const struct arch *task_arch(pid_t tid)
{
	struct head *const head = xcalloc(1, sizeof(*head));

	head->tid = tid;
	if (!timed_do(tasks_read_head, free, head)) {
		errno = ETIMEDOUT;
		return NULL;
	}
	const struct arch *const arch = head->error ? NULL : arch_of(head);

	errno = head->error ? head->error : ENOEXEC;
	free(head);
	return arch;
}

int task_read_regs(struct task *task)
{
	const struct arch *arch = task->process->arch;
	struct iovec iov = {&task->regs, sizeof(task->regs)};

	if (arch->registers.getregs) {
		if (ptrace(arch->registers.getregs, task->tid, NULL, &task->regs) < 0)
			return -errno;
	} else {
		if (ptrace(PTRACE_GETREGSET, task->tid, (void *)NT_PRSTATUS, &iov) < 0)
			return -errno;
		if (iov.iov_len != arch->registers.size)
			return -ENOTSUP;
	}
	task->regs_known = true;
	task->at_stop++;
	return 0;
}

/* Reads the registers of a task whose process, or the mode of its code, is unknown. Returns the processor whose
 * register set has the size that the kernel has returned; NULL if no processor has it, or if the task has ended. */
static const struct arch *foreign_regs(const struct task *task, struct arch_regs *regs)
{
	struct iovec iov = {regs, sizeof(*regs)};

	return ptrace(PTRACE_GETREGSET, task->tid, (void *)NT_PRSTATUS, &iov) < 0 ? NULL : arch_for_regset(iov.iov_len);
}

bool task_foreign_pc(const struct task *task, uint64_t *pc)
{
	struct arch_regs regs;
	const struct arch *arch = foreign_regs(task, &regs);

	if (arch)
		*pc = arch->registers.pc(&regs);
	return arch != NULL;
}

static int write_regs(const struct task *task, const struct arch *arch, struct arch_regs *regs)
{
	struct iovec iov = {regs, arch->registers.size};

	return ptrace(PTRACE_SETREGSET, task->tid, (void *)NT_PRSTATUS, &iov) < 0 ? -errno : 0;
}

/* Not inlined, because task_set_pc() is called for nearly all hits, but on x86 it almost never calls this function. */
__attribute__((noinline)) int task_set_regs(struct task *task)
{
	return write_regs(task, task->process->arch, &task->regs);
}

int task_set_pc(struct task *task, uint64_t pc)
{
	const struct arch *arch = task->process->arch;

	arch->registers.set_pc(&task->regs, pc);
	int error = 0;

	if (arch->registers.pc_offset < 0)
		error = task_set_regs(task);
	else if (ptrace(PTRACE_POKEUSER, task->tid, (void *)arch->registers.pc_offset, (void *)(uintptr_t)pc) < 0)
		error = -errno;
	/* -ESRCH is normal: the task was killed meanwhile. A task whose pc cannot be set hits the same breakpoint for
	 * ever. */
	if (error && error != -ESRCH)
		msg_debug(DBG_PROCESS, 1, "the pc of task %d cannot be set to %#llx: %s", task->tid,
			  (unsigned long long)pc, strerror(-error));
	return error;
}

/* Reads argument words from the stack. Words above the end of the stack become 0, because no function has arguments
 * there. */
__attribute__((noinline)) static void stacked_args(struct task *task, uint64_t *args, size_t count)
{
	const struct arch *arch = task->process->arch;
	unsigned char bytes[CALL_ARGS * sizeof(uint64_t)] = {0};

	memory_read_some(task->process, arch->registers.sp(&task->regs) + arch->convention.argument_stack, bytes,
			 count * arch->pointer_size);
	for (size_t i = 0; i < count; i++)
		args[i] = arch_pointer(arch, bytes + i * arch->pointer_size);
}

void task_args(struct task *task, uint64_t args[CALL_ARGS])
{
	const struct arch *arch = task->process->arch;
	const unsigned char *const words = arch->convention.argument_words;
	unsigned i = 0;

	for (; i < CALL_ARGS && i < arch->convention.argument_registers; i++)
		args[i] = arch_register(arch, &task->regs, words[i]);
	if (i < CALL_ARGS)
		stacked_args(task, args + i, CALL_ARGS - i);
}

static size_t read_set(const struct task *task, int set, void *bytes, size_t size)
{
	struct iovec to = {bytes, size};

	return ptrace(PTRACE_GETREGSET, task->tid, (void *)(long)set, &to) == 0 ? to.iov_len : 0;
}

size_t task_floats(const struct task *task, unsigned char *bytes, size_t size)
{
	return read_set(task, task->process->arch->abi->floats_set, bytes, size);
}

size_t task_vectors(const struct task *task, unsigned char *bytes, size_t size)
{
	const int set = task->process->arch->abi->vectors_set;
	const size_t got = set ? read_set(task, set, bytes, size) : 0;

	return got ? got : task_floats(task, bytes, size);
}

bool task_thread_pointer(struct task *task, uint64_t *value)
{
	const struct arch *arch = task->process->arch;
	const struct arch_abi *abi = arch->abi;
	unsigned char bytes[AREA_SIZE] = {0};
	uint64_t area = 0;

	if (task_regs(task) < 0)
		return false;
	if (abi->thread_pointer)
		return abi->thread_pointer(&task->regs, value);
	if (abi->thread_set) {
		if (read_set(task, abi->thread_set, bytes, sizeof(uint64_t)) < arch->pointer_size)
			return false;
	} else if ((abi->thread_area && !abi->thread_area(&task->regs, &area)) ||
		   ptrace((enum __ptrace_request)abi->thread_request, task->tid, (void *)(uintptr_t)area, bytes) < 0) {
		return false;
	}
	*value = arch_pointer(arch, bytes + abi->thread_request_at);
	return *value != 0;
}

bool task_would_see_eintr(const struct task *task)
{
	const unsigned short *const calls = task->process->arch->syscalls.eintr;
	uint64_t pc;
	long number;

	return calls[0] && !task->stopped && proc_syscall(task->tid, &number, &pc) &&
	       arch_has_call(calls, ARCH_EINTR_CALLS, number);
}

void task_restart_syscall(struct task *task)
{
	struct process *p = task->process;
	struct arch_regs foreign;
	const struct arch *arch = !p ? foreign_regs(task, &foreign) : task_regs(task) == 0 ? p->arch : NULL;
	struct arch_regs *regs = p ? &task->regs : &foreign;

	if (arch && arch->syscalls.restart && arch->syscalls.restart(regs))
		write_regs(task, arch, regs);
}
