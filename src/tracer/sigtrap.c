#include "config.h"
#include "tracer/stop.h"
#include "base/msg.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The target's own SIGTRAP.
 *
 * A breakpoint that is hit while the task blocks or ignores SIGTRAP makes the kernel force the signal: it resets the
 * action to SIG_DFL and unblocks the signal (kernel/signal.c, force_sig_info_to_task). The target's handler
 * would be gone, and its next SIGTRAP would kill it. So for a process that handles or ignores SIGTRAP:
 *  - a handler's action is asked for once, and put back after a hit that has reset it (then the
 *    signal was blocked, and is blocked again);
 *  - where it was ignored, it is again after every hit of a program with one thread; of one with more only when it
 *    is let go of, for to ignore a signal throws away those that wait (do_sigaction()): another thread's hit would
 *    be lost, and it would go on in the middle of the instruction. Until then the tracer drops the signals that the
 *    kernel would have dropped.
 * Both use one rt_sigaction made by the stopped task, through a `syscall` instruction that its text has.
 *
 * A task with seccomp filters may be killed for it. So the kernel is asked to leave them out meanwhile, which takes
 * CAP_SYS_ADMIN; else the call is made only where functrace lives with the same filters. */

#define TRAP_BIT (1ull << (SIGTRAP - 1))

/* Fields of /proc/PID/stat (proc(5)) behind the name, which may hold anything and ends at the last parenthesis. */
#define FIELD_AFTER_NAME 3
#define FIELD_SIGIGNORE  33

static int stat_open(pid_t tid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* False if it cannot be read any more: the task that it was opened for has gone. */
static bool stat_action(int fd, enum trap_action *action)
{
	char text[2048];
	const ssize_t size = pread(fd, text, sizeof(text) - 1, 0);

	if (size <= 0)
		return false;
	text[size] = '\0';
	const char *field = strrchr(text, ')');

	for (unsigned n = FIELD_AFTER_NAME; field && n <= FIELD_SIGIGNORE; n++)
		field = strchr(field + 1, ' ');
	if (!field)
		return false;
	char *next;
	const bool ignored = strtoull(field, &next, 10) & TRAP_BIT;
	const bool handled = strtoull(next, NULL, 10) & TRAP_BIT;

	*action = ignored ? TRAP_IGNORED : handled ? TRAP_HANDLED : TRAP_DEFAULT;
	return true;
}

enum trap_action sigtrap_action(pid_t pid)
{
	const int fd = stat_open(pid);
	enum trap_action action;

	if (fd < 0)
		return TRAP_DEFAULT;
	if (!stat_action(fd, &action))
		action = TRAP_DEFAULT;
	close(fd);
	return action;
}

/* Tasks that share the memory only (a child of vfork) have actions of their own. */
static bool has_own_actions(const struct task *task)
{
	return task->tgid != task->process->pid;
}

/* The same after a hit, at a quarter of the price: the file is kept open. All threads have one action. */
static enum trap_action action_now(struct task *task)
{
	struct process *p = task->process;
	enum trap_action action;

	if (p->stat_fd >= 0 && stat_action(p->stat_fd, &action))
		return action;
	if (p->stat_fd >= 0)
		close(p->stat_fd);
	p->stat_fd = stat_open(task->tid);
	return p->stat_fd >= 0 && stat_action(p->stat_fd, &action) ? action : TRAP_DEFAULT;
}

static uint64_t find_in(struct process *p, const struct object *object, long (*find)(const unsigned char *, size_t))
{
	const size_t chunk = 1 << 16, overlap = 32;
	unsigned char *code = xmalloc(chunk);
	long offset = -1;
	uint64_t at = 0;

	for (size_t r = 0; r < object->text_count && offset < 0; r++) {
		const struct text_range *text = &object->text[r];

		for (at = text->start; at < text->end; at += chunk - overlap) {
			const size_t size = text->end - at < chunk ? text->end - at : chunk;

			if (memory_read(p, at, code, size) < 0)
				break;
			offset = find(code, size);
			if (offset >= 0)
				break;
		}
	}
	free(code);
	return offset < 0 ? 0 : at + (uint64_t)offset;
}

static bool is_libc(const struct object *object)
{
	const char *slash = strrchr(object->path, '/'), *name = slash ? slash + 1 : object->path;

	return !strncmp(name, "libc.", 5) || !strncmp(name, "libc-", 5) || !strncmp(name, "ld-musl", 7);
}

/* The address of some code that every C library has, found by `find` in the text; looked for once. First in the
 * library itself: a browser's own text is 200 MiB. */
static uint64_t find_code(struct process *p, uint64_t *known, long (*find)(const unsigned char *, size_t))
{
	for (unsigned others = 0; others <= 1; others++)
		for (size_t i = 0; i < p->objects.count && !*known; i++)
			if (is_libc(p->objects.items[i]) == !others)
				*known = find_in(p, p->objects.items[i], find);
	return *known;
}

/* Runs the task to its next system call stop. Not by a single step: its trap would be a SIGTRAP again, and
 * reset what the call has just set. Signals are blocked meanwhile; *group_stop: a group-stop came first, and has to
 * be reported again. False if another stop came, which is kept. */
static bool run_to_syscall(struct task *task, bool *group_stop)
{
	for (unsigned tries = 0; tries < 4; tries++) {
		if (ptrace(PTRACE_SYSCALL, task->tid, NULL, NULL) < 0)
			return false;
		task->regs_known = false;
		const int status = task_wait(task);

		if (WIFSTOPPED(status) && WSTOPSIG(status) == (SIGTRAP | 0x80))
			return true;
		if (WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP) {
			*group_stop = true;
			continue;
		}
		const struct stop stop = stop_decode(task->tid, status, task->phase);

		task->stopped = stop.kind != STOP_GONE;
		collect_later(task->process->tracer, &stop);
		return false;
	}
	return false;
}

#define SUSPEND_SECCOMP (1ul << 21) /* PTRACE_O_SUSPEND_SECCOMP, in no header of musl's */

static long status_number(const char *text, const char *key)
{
	const char *line = text ? strstr(text, key) : NULL;

	return line ? strtol(line + strlen(key), NULL, 10) : -1;
}

/* What is launched begins with functrace's own filters, and can only add to them. */
static bool same_filters(const struct tracer *t, const char *status)
{
	char *own = read_file("/proc/self/status", 1 << 16, NULL);
	const long count = status_number(own, "\nSeccomp_filters:");
	const bool same = t->launch->pid && count >= 0 && count == status_number(status, "\nSeccomp_filters:");

	free(own);
	return same;
}

/* Whether a system call of the tracer's cannot harm the stopped task; *suspended: its filters are off for it. */
static bool may_call(struct task *task, bool *suspended)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/status", task->tid);
	char *status = read_file(path, 1 << 16, NULL);
	const long mode = status_number(status, "\nSeccomp:");

	*suspended = mode > 0 && ptrace(PTRACE_SETOPTIONS, task->tid, NULL, seize_options | SUSPEND_SECCOMP) == 0;
	const bool may =
		status && (mode <= 0 || *suspended || (mode == 2 && same_filters(task->process->tracer, status)));

	free(status);
	return may;
}

/* What the task gets if the tracer is killed before it has put all back: behind a hit, where the breakpoint is by then
 * taken out, it begins the instruction again. */
static void lend(struct task *task, bool interrupted, uint64_t mask)
{
	const struct arch *arch = task->process->arch;
	struct arch_regs own = task->regs;

	if (!interrupted)
		arch->set_pc(&own, arch->breakpoint_address(arch->pc(&own)));
	guard_borrow(task->process->tracer->engine, task->tid, &own, mask);
}

/* It stands as it did before, which the stops of the system call have covered. */
static void lent(struct task *task, bool interrupted)
{
	struct engine *engine = task->process->tracer->engine;

	if (!interrupted) {
		guard_took(engine, task->seat, SIGTRAP << 8 | 0x7f);
		guard_saw(engine, task->seat, task->process->arch->pc(&task->regs),
			  task->process->arch->sp(&task->regs));
	}
	guard_borrow(engine, 0, NULL, 0);
}

/* Makes the stopped task do one system call through an existing instruction, and puts its registers back. If it
 * was `interrupted` it may have been asleep in a call of its own, which the kernel makes again only on the way
 * out of a stop like that: so it is stopped like that once more. */
static bool remote_syscall(struct task *task, bool interrupted, uint64_t number, const uint64_t *args, uint64_t *result)
{
	struct process *p = task->process;
	const uint64_t insn = find_code(p, &p->syscall_insn, p->arch->find_syscall);
	const struct arch_regs saved = task->regs;
	const uint64_t all = UINT64_MAX;
	bool again = interrupted, suspended;
	uint64_t mask;

	if (!insn || breakpoint_find(p, insn) ||
	    ptrace(PTRACE_GETSIGMASK, task->tid, (void *)sizeof(mask), &mask) < 0 || !may_call(task, &suspended))
		return false;
	lend(task, interrupted, mask);
	ptrace(PTRACE_SETSIGMASK, task->tid, (void *)sizeof(all), &all);
	p->arch->set_syscall(&task->regs, insn, number, args);
	/* Into it, and out of it. */
	const bool ok = task_set_regs(task) == 0 && run_to_syscall(task, &again) && run_to_syscall(task, &again) &&
			task_regs(task) == 0;

	if (ok)
		*result = p->arch->result(&task->regs);
	task->regs = saved;
	task->regs_known = true;
	task_set_regs(task);
	ptrace(PTRACE_SETSIGMASK, task->tid, (void *)sizeof(mask), &mask);
	lent(task, interrupted);
	if (suspended)
		ptrace(PTRACE_SETOPTIONS, task->tid, NULL, seize_options);
	if (again)
		ptrace(PTRACE_INTERRUPT, task->tid, NULL, NULL);
	return ok;
}

/* The kernel's struct sigaction, in the target's own memory: below its stack pointer and red zone, where
 * nothing lives; what was there is put back. */
static bool remote_sigaction(struct task *task, bool interrupted, const void *set, void *old)
{
	struct process *p = task->process;
	const uint64_t place = align_down(p->arch->sp(&task->regs) - 1024, 16);
	unsigned char saved[SIGTRAP_ACTION_SIZE];
	uint64_t result = 1;
	const uint64_t args[6] = {SIGTRAP, set ? place : 0, old ? place : 0, 8};

	if (memory_read(p, place, saved, sizeof(saved)) < 0)
		return false;
	if (set && memory_write(p, place, set, SIGTRAP_ACTION_SIZE) < 0)
		return false;
	bool ok = remote_syscall(task, interrupted, p->arch->sys_rt_sigaction, args, &result) && result == 0;

	if (ok && old)
		ok = memory_read(p, place, old, SIGTRAP_ACTION_SIZE) == 0;
	memory_write(p, place, saved, sizeof(saved));
	return ok;
}

static void block_again(struct task *task)
{
	uint64_t mask;

	if (ptrace(PTRACE_GETSIGMASK, task->tid, (void *)8ul, &mask) < 0)
		return;
	mask |= TRAP_BIT;
	ptrace(PTRACE_SETSIGMASK, task->tid, (void *)8ul, &mask);
}

/* The C libraries' struct sigaction: the handler, a mask of 128 bytes, the flags. */
struct libc_action {
	uint64_t handler, mask[16];
	uint32_t flags;
};

/* The kernel's: handler, flags, restorer, mask. */
struct kernel_action {
	uint64_t handler, flags, restorer, mask;
};

#define ACTION_RESTORER 0x04000000u
#define ACTION_ONCE     0x80000000u

void sigtrap_set(struct task *task, uint64_t act)
{
	struct process *p = task->process;
	struct libc_action wanted;
	struct kernel_action action = {0};

	if (has_own_actions(task) || !act || memory_read(p, act, &wanted, sizeof(wanted)) < 0)
		return; /* only asks, or will fail */
	p->trap_reset = p->trap_lost = false;
	p->trap_known = false;
	if (wanted.handler == (uint64_t)(uintptr_t)SIG_DFL) {
		p->trap = TRAP_DEFAULT;
	} else if (wanted.handler == (uint64_t)(uintptr_t)SIG_IGN) {
		p->trap = TRAP_IGNORED;
	} else {
		p->trap = TRAP_HANDLED;
		action.handler = wanted.handler;
		action.flags = wanted.flags | ACTION_RESTORER;
		action.restorer = find_code(p, &p->restorer, p->arch->find_restorer);
		action.mask = wanted.mask[0];
		p->trap_known = action.restorer != 0;
		memcpy(p->trap_saved, &action, sizeof(action));
	}
	p->trap_once = p->trap == TRAP_HANDLED && (wanted.flags & ACTION_ONCE);
}

static void ask(struct task *task)
{
	struct process *p = task->process;
	struct kernel_action action;

	if (task_regs(task) < 0)
		return;
	p->trap_known = remote_sigaction(task, true, NULL, p->trap_saved);
	memcpy(&action, p->trap_saved, sizeof(action));
	p->trap_once = p->trap_known && (action.flags & ACTION_ONCE);
}

/* A task is stopped for it, which a sleeping system call does not notice: the first that stops soon. */
static void sigtrap_ask(struct process *p)
{
	struct tracer *t = p->tracer;
	const struct hash_entry *entry;

	for (size_t i = 0; !p->trap_known && (entry = hash_next(&t->tasks, &i));) {
		struct task *task = (struct task *)(uintptr_t)entry->value;
		int status;

		if (task->process != p || task->phase != PHASE_LIVE || task->stopped || task->exiting ||
		    task->vforking || ptrace(PTRACE_INTERRUPT, task->tid, NULL, NULL) < 0)
			continue;
		task->interrupted = true;
		/* One that does not stop now (a parent in vfork) will later. */
		for (unsigned n = 0; n < 400; n++) {
			if (collect_wait(t, task->tid, WNOHANG, &status) == task->tid) {
				const struct stop stop = stop_decode(task->tid, status, PHASE_LIVE);

				task->stopped = stop.kind != STOP_GONE;
				task->regs_known = false;
				if (stop.kind == STOP_INTERRUPT)
					ask(task);
				collect_later(t, &stop);
				break;
			}
			nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
		}
	}
}

/* Where the target ignores SIGTRAP. */
static void ignore_again(struct task *task, bool interrupted)
{
	struct process *p = task->process;
	/* struct kernel_sigaction: handler, flags, restorer, mask. */
	unsigned char ignore[SIGTRAP_ACTION_SIZE] = {0};
	const uint64_t handler = (uint64_t)(uintptr_t)SIG_IGN;

	memcpy(ignore, &handler, p->arch->pointer_size);
	if (task_regs(task) == 0 && remote_sigaction(task, interrupted, ignore, NULL))
		p->trap_reset = false;
}

void sigtrap_after_hit(struct task *task)
{
	struct process *p = task->process;

	if (has_own_actions(task))
		return;
	if (p->trap == TRAP_IGNORED) {
		p->trap_reset = true;
		if (p->tasks == 1)
			ignore_again(task, false);
		return;
	}
	if (action_now(task) == TRAP_HANDLED)
		return; /* not reset */
	if (p->trap_known && remote_sigaction(task, false, p->trap_saved, NULL)) {
		block_again(task);
		return;
	}
	if (!p->trap_lost)
		msg_warn("process %d has lost its handler of SIGTRAP: a breakpoint was hit while the signal was "
			 "blocked",
			 p->pid);
	p->trap_lost = true;
	p->trap = TRAP_DEFAULT;
}

bool sigtrap_deliver(struct task *task)
{
	struct process *p = task->process;

	if (!p)
		return true;
	if (p->trap == TRAP_IGNORED && p->trap_reset)
		return false;
	if (p->trap_once)
		p->trap = TRAP_DEFAULT; /* SA_RESETHAND: this delivery resets it */
	return true;
}

bool sigtrap_needs_restore(const struct process *p)
{
	return p->trap == TRAP_IGNORED && p->trap_reset;
}

void sigtrap_restore(struct task *task)
{
	if (sigtrap_needs_restore(task->process))
		ignore_again(task, true);
}

void sigtrap_fork(const struct process *from, struct process *to)
{
	to->trap = from->trap;
	to->trap_known = from->trap_known;
	to->trap_reset = from->trap_reset;
	to->trap_lost = from->trap_lost;
	to->trap_once = from->trap_once;
	memcpy(to->trap_saved, from->trap_saved, sizeof(to->trap_saved));
	to->syscall_insn = from->syscall_insn;
	to->restorer = from->restorer;
}

void sigtrap_begin(struct process *p)
{
	if (p->trap_reset)
		return; /* what the kernel has is not the target's */
	p->trap = sigtrap_action(process_proc(p));
	p->trap_known = p->trap_once = false;
	if (p->trap == TRAP_HANDLED)
		sigtrap_ask(p);
}
