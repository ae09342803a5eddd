#include "config.h"
#include "calls/sigtrap.h"
#include "calls/calls.h"
#include "breakpoints/breakpoints.h"
#include "ptrace/halt.h"
#include "ptrace/target_memory.h"
#include "ptrace/pending_stops.h"
#include "ptrace/tasks.h"
#include "proc/proc.h"
#include "base/msg.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Preserves the target's own SIGTRAP.
 *
 * If a breakpoint is hit while the task blocks or ignores SIGTRAP, the kernel forces the signal: it resets the action
 * to SIG_DFL and unblocks the signal (kernel/signal.c, force_sig_info_to_task). The target's handler would be lost, and
 * its next SIGTRAP would kill it. So for a process that handles or ignores SIGTRAP:
 * - functrace gets a handler's action from the kernel once, and restores it after a hit that has reset it. The kernel
 *   resets a handler only if the signal is blocked, so functrace then blocks the signal again. If there is no handler,
 *   a hit does not show whether the signal was blocked; therefore sigtrap_mask.c tracks the mask.
 * - If the signal was ignored, functrace sets it to ignored again after every hit of a program with one thread. In a
 *   program with more threads it does so only when it detaches, because ignoring a signal discards pending ones
 *   (do_sigaction()): the hit of another thread would be lost, and the thread would continue in the middle of the
 *   instruction. Until then the tracer drops the signals that the kernel would have dropped.
 * In both cases the stopped task makes one rt_sigaction, through a `syscall` instruction in its own text.
 *
 * A seccomp filter may kill the task for that call. So functrace suspends the filters meanwhile, which takes
 * CAP_SYS_ADMIN; without it, the task makes the call only if functrace itself has the same filters. */

static enum trap_action action_of(const struct proc_stat *stat)
{
	return stat->ignored & TRAP_BIT ? TRAP_IGNORED : stat->caught & TRAP_BIT ? TRAP_HANDLED : TRAP_DEFAULT;
}

static enum trap_action sigtrap_action(pid_t pid)
{
	struct proc_stat stat;

	return proc_stat(pid, &stat) ? action_of(&stat) : TRAP_DEFAULT;
}

/* Returns true if the task has signal actions of its own, because it shares only the memory (a child of vfork). */
static bool has_own_actions(const struct task *task)
{
	return task->tgid != task->process->pid;
}

/* Returns the action after a hit, from /proc/TID/stat of one of the process's tasks, because all threads have the same
 * action. The file stays open, so this takes a quarter of the time of sigtrap_action(). */
static enum trap_action action_now(struct task *task)
{
	struct process *p = task->process;
	struct proc_stat stat;

	if (proc_stat_again(p->traps->stat_fd, &stat))
		return action_of(&stat);
	if (p->traps->stat_fd >= 0)
		close(p->traps->stat_fd);
	p->traps->stat_fd = proc_stat_open(task->tid);
	return proc_stat_again(p->traps->stat_fd, &stat) ? action_of(&stat) : TRAP_DEFAULT;
}

typedef long (*code_finder)(const unsigned char *code, size_t size);

#define INSN_ALIGN 4u /* alignment of instructions, in bytes, on processors that align them */

/* Returns the first address, other than `except`, that `find` finds in `code`, which was read from address `at`; 0 if
 * there is none. */
static uint64_t find_but(const struct process *p, uint64_t at, const unsigned char *code, size_t size, code_finder find,
			 uint64_t except)
{
	long offset;

	for (size_t from = 0; from < size; from += align_down((uint64_t)offset, INSN_ALIGN) + INSN_ALIGN) {
		offset = find(code + from, size - from);
		if (offset < 0)
			return 0;
		const uint64_t found = at + from + (uint64_t)offset;

		if (arch_text_address(p->arch, found) != except)
			return found;
	}
	return 0;
}

static uint64_t sigtrap_find_in(struct process *p, const struct object *object, code_finder find, uint64_t except)
{
	const size_t chunk = 1 << 16, overlap = 32;
	unsigned char *code = xmalloc(chunk);
	uint64_t found = 0;

	for (size_t r = 0; r < object->text_count && !found; r++) {
		const struct text_range *text = &object->text[r];

		for (uint64_t at = text->start; at < text->end && !found; at += chunk - overlap) {
			const size_t size = text->end - at < chunk ? text->end - at : chunk;

			if (memory_read(p, at, code, size) < 0)
				break;
			found = find_but(p, at, code, size, find, except);
		}
	}
	free(code);
	return found;
}

static bool is_libc(const struct object *object)
{
	const char *const name = path_name(object->path);

	return !strncmp(name, "libc.", 5) || !strncmp(name, "libc-", 5) || !strncmp(name, "ld-musl", 7);
}

/* Returns the first address, other than `except`, of code that `find` recognises; 0 if there is none. Stores the
 * address in *known, and does not search if *known is not 0. Searches the C library's text first, because every C
 * library contains such code, and a browser's own text has 200 MiB. */
static uint64_t find_code(struct process *p, uint64_t *known, code_finder find, uint64_t except)
{
	for (unsigned others = 0; others <= 1; others++)
		for (size_t i = 0; i < p->objects.count && !*known; i++)
			if (is_libc(p->objects.items[i]) == !others)
				*known = sigtrap_find_in(p, p->objects.items[i], find, except);
	return *known;
}

/* Returns the address of an instruction for a system call that the task makes for the tracer. The instruction at the
 * task's pc is not used: when a stop interrupts a system call, ARM's kernels set the pc back to the call's instruction.
 * If the pc is there again at the exit of the tracer's call, these kernels restart the interrupted call, by its own
 * number (arch/arm/kernel/signal.c) or that of restart_syscall (arch/arm64), but with the arguments of the tracer's
 * call. The task would sleep on, and no event could wake it. */
static uint64_t find_syscall(struct task *task)
{
	struct process *p = task->process;
	const uint64_t pc = p->arch->registers.pc(&task->regs);
	const uint64_t insn = find_code(p, &p->traps->syscall_insn, p->arch->syscalls.find, 0);
	uint64_t other = 0;

	if (!insn || arch_text_address(p->arch, insn) != pc)
		return insn;
	return find_code(p, &other, p->arch->syscalls.find, pc);
}

/* Runs the task to its next system call stop. A single step cannot be used: its SIGTRAP would reset the action that the
 * call has just set. The caller has blocked all signals. Sets *group_stop if a group-stop or an interrupt came first,
 * which must be reported again. Returns false if another stop came, which is queued. */
static bool run_to_syscall(struct task *task, bool *group_stop)
{
	for (unsigned tries = 0; tries < 4; tries++) {
		if (!task_run_to_syscall(task))
			return false;
		struct stop stop;

		if (!halt_wait(task, PATIENCE_OWN, &stop))
			return false;
		if (stop.kind == STOP_SIGNAL && stop.signal == (SIGTRAP | 0x80))
			return true;
		if (stop.kind == STOP_GROUP || stop.kind == STOP_INTERRUPT) {
			*group_stop = true;
			continue;
		}
		stops_put_back(task->process->tracer, &stop);
		return false;
	}
	return false;
}

/* Returns true if the target was launched, and the task has as many seccomp filters as functrace: a launched program
 * starts with functrace's filters, and can only add to them. */
static bool same_filters(const struct tracer *t, const char *status)
{
	char *own = proc_read(getpid(), "status", NULL);
	uint64_t count, its;
	const bool same = t->launch->pid && proc_status_number(own, "Seccomp_filters", 0, 10, &count) &&
			  proc_status_number(status, "Seccomp_filters", 0, 10, &its) && count == its;

	free(own);
	return same;
}

/* Suspends the stopped task's seccomp filters if it has any and functrace may suspend them; then *suspended is true.
 * Returns true if a system call for the tracer cannot harm the task. */
static bool begin_call(struct task *task, bool *suspended)
{
	char *status = proc_read(task->tid, "status", NULL);
	uint64_t mode = 0;

	proc_status_number(status, "Seccomp", 0, 10, &mode);
	*suspended = mode > 0 && task_suspend_seccomp(task, true);
	const bool may = status && (!mode || *suspended || (mode == 2 && same_filters(task->process->tracer, status)));

	free(status);
	return may;
}

/* Notes the registers and mask that the guardian restores if the tracer is killed during the call. After a hit
 * (`interrupted` is false), the noted pc is the address of the instruction under the breakpoint, because the guardian
 * will have removed the breakpoint. */
static void note_own_state(struct task *task, bool interrupted, uint64_t mask)
{
	const struct arch *arch = task->process->arch;
	struct arch_regs own = task->regs;

	if (!interrupted)
		arch->registers.set_pc(&own, arch->breakpoint.hit_address(arch->registers.pc(&own)));
	guard_note_syscall(task->process->tracer->engine, task->tid, &own, mask);
}

/* Notes in the journal that the system call is over. After a hit, also notes that the task is again at the stop of the
 * hit, because the stops of the call have replaced that stop in the journal. */
static void forget_own_state(struct task *task, bool interrupted)
{
	struct engine *engine = task->process->tracer->engine;

	if (!interrupted) {
		guard_took(engine, task->journal_task, SIGTRAP << 8 | 0x7f);
		guard_saw(engine, task->journal_task, task->process->arch->registers.pc(&task->regs),
			  task->process->arch->registers.sp(&task->regs));
	}
	guard_note_syscall(engine, 0, NULL, 0);
}

/* Makes the stopped task do one system call through an existing instruction, and restores its registers. `interrupted`:
 * the task is in a stop by PTRACE_INTERRUPT, which may have interrupted a system call of its own. The kernel restarts
 * that call only at the end of such a stop, so the task is interrupted once more. */
static bool remote_syscall(struct task *task, bool interrupted, uint64_t number, const uint64_t *args, uint64_t *result)
{
	struct process *p = task->process;
	const uint64_t insn = find_syscall(task);
	const struct arch_regs saved = task->regs;
	bool again = interrupted, suspended;
	uint64_t mask;

	if (!insn || breakpoint_find(p, insn) || !task_signal_mask(task, &mask) || !begin_call(task, &suspended))
		return false;
	note_own_state(task, interrupted, mask);
	task_set_signal_mask(task, UINT64_MAX);
	p->arch->syscalls.set(&task->regs, insn, number, args);
	/* The first run ends at the call's entry, the second at its exit. */
	const bool ok = task_set_regs(task) == 0 && run_to_syscall(task, &again) && run_to_syscall(task, &again) &&
			task_regs(task) == 0;

	if (ok)
		*result = p->arch->convention.result(&task->regs);
	task->regs = saved;
	task->regs_known = true;
	task_set_regs(task);
	task_set_signal_mask(task, mask);
	forget_own_state(task, interrupted);
	if (suspended)
		task_suspend_seccomp(task, false);
	if (again)
		task_interrupt(task);
	return ok;
}

/* Sets or reads the action of SIGTRAP. Writes the kernel's struct sigaction to the target's stack, below the stack
 * pointer and the red zone, where the program has no data, and restores the old bytes afterwards. `set` and `old` may
 * be NULL. */
static bool remote_sigaction(struct task *task, bool interrupted, const struct arch_action *set,
			     struct arch_action *old)
{
	struct process *p = task->process;
	const struct action_layout *layout = &p->arch->signal.kernel_action;
	const uint64_t place = align_down(p->arch->registers.sp(&task->regs) - 1024, 16);
	unsigned char saved[ARCH_ACTION_MAX], bytes[ARCH_ACTION_MAX];
	uint64_t result = 1;
	const uint64_t args[6] = {SIGTRAP, set ? place : 0, old ? place : 0, 8};

	if (memory_read(p, place, saved, layout->size) < 0)
		return false;
	if (set) {
		action_pack(layout, set, bytes);
		if (memory_write(p, place, bytes, layout->size) < 0)
			return false;
	}
	bool ok = remote_syscall(task, interrupted, p->arch->syscalls.rt_sigaction, args, &result) && result == 0;

	if (ok && old) {
		ok = memory_read(p, place, bytes, layout->size) == 0;
		action_unpack(layout, bytes, old);
	}
	memory_write(p, place, saved, layout->size);
	return ok;
}

#define ACTION_ONCE 0x80000000u /* SA_RESETHAND */

static bool is_handler(uint64_t handler)
{
	return handler != (uint64_t)(uintptr_t)SIG_DFL && handler != (uint64_t)(uintptr_t)SIG_IGN;
}

bool sigtrap_set(struct task *task, uint64_t act)
{
	struct process *p = task->process;
	struct traps *traps = p->traps;
	const struct action_layout *layout = &p->arch->signal.libc_action;
	unsigned char bytes[ARCH_ACTION_MAX];
	struct arch_action wanted;

	if (has_own_actions(task) || !act || memory_read(p, act, bytes, layout->size) < 0)
		return false; /* not this process's action; or the call only reads the action, or will fail */
	action_unpack(layout, bytes, &wanted);
	traps->reset = traps->lost = traps->known = false;
	traps->action = is_handler(wanted.handler)                       ? TRAP_HANDLED
			: wanted.handler == (uint64_t)(uintptr_t)SIG_IGN ? TRAP_IGNORED
									 : TRAP_DEFAULT;
	traps->once = traps->action == TRAP_HANDLED && (wanted.flags & ACTION_ONCE);
	if (traps->action != TRAP_HANDLED)
		return false;
	/* The C library adds a restorer if the processor needs one. */
	traps->saved = wanted;
	traps->saved.flags |= p->arch->signal.action_flags;
	traps->saved.restorer =
		p->arch->signal.action_flags ? find_code(p, &traps->restorer, p->arch->signal.find_restorer, 0) : 0;
	traps->known = !p->arch->signal.action_flags || traps->saved.restorer;
	return true;
}

static void sigtrap_query(struct task *task)
{
	struct traps *traps = task->process->traps;

	if (task_regs(task) < 0)
		return;
	traps->known = remote_sigaction(task, true, NULL, &traps->saved);
	traps->once = traps->known && (traps->saved.flags & ACTION_ONCE);
}

/* Gets the handler's data from the kernel by a system call of one task, the first one that functrace can stop by an
 * interrupt within a short time. If that task sleeps in a system call of its own, the kernel restarts that call
 * afterwards, so the program does not notice the stop. */
static void sigtrap_ask(struct process *p)
{
	struct stop stop;

	FOR_EACH_TASK(task, p) {
		if (p->traps->known)
			return;
		if (!task_can_be_stopped(task) || !halt_task(task, PATIENCE_SOON, &stop))
			continue;
		if (stop.kind == STOP_INTERRUPT)
			sigtrap_query(task);
		stops_put_back(p->tracer, &stop);
	}
}

/* Sets the target's SIGTRAP to ignored again. */
static void ignore_again(struct task *task, bool interrupted)
{
	const struct arch_action ignore = {.handler = (uint64_t)(uintptr_t)SIG_IGN};

	if (task_regs(task) == 0 && remote_sigaction(task, interrupted, &ignore, NULL))
		task->process->traps->reset = false;
}

/* Returns true if a call of sigaction() is in flight whose new handler the kernel may not have yet: the hit was in
 * another thread, or in a function that sigaction() calls before its system call. When sigaction() returns, the kernel
 * has the new handler. */
static bool is_being_set(struct task *task)
{
	struct process *p = task->process;
	const uint64_t address = p->arch->breakpoint.hit_address(p->arch->registers.pc(&task->regs));

	FOR_EACH_TASK(other, p)
		for (const struct call *call = task_newest_call(other); call; call = call->next)
			if (call->probe->wanted->hook == HOOK_SIGACTION &&
			    (other != task || call->site->address != address))
				return true;
	return false;
}

/* Returns true if the hit has reset the handler. Then SIGTRAP was blocked, because the kernel resets a handler only if
 * the signal is blocked; task->blocks_trap notes that. */
static bool is_reset(struct task *task)
{
	const bool is_kept = action_now(task) == TRAP_HANDLED;

	if (!is_kept && is_being_set(task))
		return false;
	task->blocks_trap = !is_kept;
	return !is_kept;
}

static void put_back_handler(struct task *task)
{
	struct process *p = task->process;

	if (p->traps->known && remote_sigaction(task, false, &p->traps->saved, NULL))
		return;
	if (!p->traps->lost)
		msg_warn("process %d has lost its handler of SIGTRAP: a breakpoint was hit while the signal was "
			 "blocked",
			 p->pid);
	p->traps->lost = true;
	p->traps->action = TRAP_DEFAULT;
}

void sigtrap_after_hit_slow(struct task *task)
{
	struct process *p = task->process;
	const enum trap_action action = has_own_actions(task) ? TRAP_DEFAULT : p->traps->action;
	const bool has_lost_handler = action == TRAP_HANDLED && is_reset(task);

	task_block_trap_again(task);
	if (has_lost_handler) {
		put_back_handler(task);
	} else if (action == TRAP_IGNORED) {
		p->traps->reset = true;
		if (p->task_count == 1)
			ignore_again(task, false);
	}
}

/* Returns true if the SIGTRAP ends a single step for which the tracer has not waited, and was not sent by a process. */
static bool is_end_of_step(const struct task *task)
{
	siginfo_t info;

	return task->is_stepping && task_siginfo(task->tid, &info) && (info.si_code > 0 || !info.si_pid);
}

bool sigtrap_deliver(struct task *task)
{
	struct process *p = task->process;

	if (!p)
		return true;
	if (is_end_of_step(task))
		return false;
	if (p->traps->action == TRAP_IGNORED && p->traps->reset)
		return false;
	if (p->traps->once)
		p->traps->action = TRAP_DEFAULT; /* SA_RESETHAND: this delivery resets the action */
	return true;
}

bool sigtrap_needs_restore(const struct process *p)
{
	return p->traps->action == TRAP_IGNORED && p->traps->reset;
}

void sigtrap_restore(struct task *task)
{
	if (sigtrap_needs_restore(task->process))
		ignore_again(task, true);
}

struct traps *traps_new(pid_t tid)
{
	struct traps *traps = xcalloc(1, sizeof(*traps));

	traps->action = sigtrap_action(tid);
	traps->stat_fd = -1;
	return traps;
}

struct traps *traps_fork(const struct traps *from)
{
	struct traps *traps = xmalloc(sizeof(*traps));

	*traps = *from;
	traps->stat_fd = -1;
	return traps;
}

void traps_free(struct traps *traps)
{
	if (traps && traps->stat_fd >= 0)
		close(traps->stat_fd);
	free(traps);
}

void sigtrap_begin(struct process *p)
{
	sigtrap_learn_masks(p);
	if (p->traps->reset)
		return; /* the action that /proc shows is not the target's */
	p->traps->action = sigtrap_action(process_proc_task(p));
	p->traps->known = p->traps->once = false;
	if (p->traps->action == TRAP_HANDLED)
		sigtrap_ask(p);
}
