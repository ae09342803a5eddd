/* The fake kernel's tasks, their stops and their ends. */
#include "config.h"
#include "arch/x86/x86_insn.h"
#include "tests/unit/fake_kernel.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

const struct arch *fake_arch;

static struct fake_task *tasks[FAKE_TASKS_MAX];
static size_t task_count;
static unsigned execs;

void fake_reset(void)
{
	for (size_t i = 0; i < task_count; i++)
		free(tasks[i]);
	task_count = 0;
	execs = 0;
	fake_memories_free();
	fake_calls_reset();
	fake_arch = arch_for_elf(EM_X86_64, ELFCLASS64);
}

struct fake_task *fake_nth(size_t n)
{
	return n < task_count ? tasks[n] : NULL;
}

struct fake_task *fake_find(pid_t tid)
{
	for (size_t i = 0; i < task_count; i++)
		if (tasks[i]->tid == tid && tasks[i]->state != FAKE_GONE)
			return tasks[i];
	return NULL;
}

struct fake_task *fake_leader(const struct fake_task *task)
{
	return fake_find(task->tgid);
}

bool fake_is_ours(const struct fake_task *task)
{
	return task && task->tracer == gettid();
}

struct fake_task *fake_new(pid_t tid, pid_t tgid, struct fake_memory *memory)
{
	if (task_count == FAKE_TASKS_MAX || fake_find(tid)) {
		fake_fail("%d cannot be made", tid);
		return fake_find(tid) ? fake_find(tid) : tasks[0];
	}
	struct fake_task *task = xcalloc(1, sizeof(*task));

	*task = (struct fake_task){.tid = tid,
				   .tgid = tgid,
				   .parent = 1,
				   .memory = memory,
				   .activity = 'S',
				   .trap = 'd',
				   .stack = FAKE_STACK + 0x800 + task_count % 64 * 0x1000};
	fake_arch->registers.set_pc(&task->regs, fake_place_named("away")->address);
	fake_arch->registers.set_sp(&task->regs, task->stack);
	task->regs.words[X86_CS] = 0x33; /* the selector of 64-bit code */
	tasks[task_count++] = task;
	return task;
}

size_t fake_users(const struct fake_memory *memory)
{
	size_t count = 0;

	for (size_t i = 0; i < task_count; i++)
		count += tasks[i]->memory == memory;
	return count;
}

/* ---- Stops ---- */

bool fake_report(struct fake_task *task, int status, unsigned long message)
{
	const int sig = WSTOPSIG(status), event = status >> 16;

	if (!fake_is_ours(task) || task->state != FAKE_RUNS) {
		fake_fail("%d cannot stop now: it is %s", task->tid, fake_is_ours(task) ? "stopped" : "not traced");
		return false;
	}
	task->state = FAKE_STOPPED;
	task->unread = true;
	task->status = status;
	task->message = message;
	fake_child_signal(task->tid);
	task->interrupted = false; /* any stop uses up a pending interruption */
	task->hit = 0;
	task->info = (siginfo_t){.si_signo = sig, .si_code = event ? event << 8 | sig : SI_USER};
	return true;
}

bool fake_hit(struct fake_task *task, uint64_t address)
{
	if (!task->memory || !fake_has_breakpoint(task->memory, address)) {
		fake_fail("%d cannot hit %s: no breakpoint is there", task->tid, fake_place_text(address));
		return false;
	}
	if (!fake_report(task, STATUS_STOPPED(SIGTRAP), 0))
		return false;
	task->activity = 'R';
	task->info.si_code = SI_KERNEL;
	task->hit = address;
	fake_arch->registers.set_pc(&task->regs, address + 1);
	return true;
}

static int stop_signal(const struct fake_task *task)
{
	const struct fake_task *leader = fake_leader(task);

	return leader && leader->group_stop ? leader->group_stop : SIGTRAP;
}

static void trap_stop(struct fake_task *task)
{
	fake_report(task, STATUS_EVENT(PTRACE_EVENT_STOP, stop_signal(task)), 0);
}

void fake_interrupt(struct fake_task *task)
{
	switch (task->state) {
	case FAKE_LISTENS:
		task->state = FAKE_RUNS;
		trap_stop(task);
		break;
	case FAKE_RUNS:
		task->interrupted = true;
		if (!task->deaf && !task->vforking && !task->executing)
			trap_stop(task);
		break;
	case FAKE_STOPPED:
		task->interrupted = true;
		break;
	default:
		break;
	}
}

void fake_go_on(struct fake_task *task)
{
	const uint64_t queued = task->queued_hit;

	task->state = FAKE_RUNS;
	task->unread = false;
	task->hit = task->queued_hit = 0;
	if (task->exit_event_seen) {
		fake_end(task, task->end);
	} else if (fake_is_ours(task) && task->interrupted && !task->vforking && !task->deaf) {
		trap_stop(task);
		task->queued_hit = queued;
	} else if (fake_is_ours(task) && queued) {
		fake_report(task, STATUS_STOPPED(SIGTRAP), 0);
		task->info.si_code = SI_KERNEL;
		task->hit = queued;
	}
}

/* ---- Waiting ---- */

/* Returns true if all other threads of the task's group have ended. A leader's end is reported only then
 * (delay_group_leader()). */
static bool is_last(const struct fake_task *task)
{
	for (size_t i = 0; i < task_count; i++)
		if (tasks[i] != task && tasks[i]->tgid == task->tgid && tasks[i]->state != FAKE_GONE)
			return false;
	return true;
}

static bool is_ready(const struct fake_task *task)
{
	return fake_is_ours(task) && task->unread && task->state != FAKE_GONE &&
	       (task->state != FAKE_ZOMBIE || task->tid != task->tgid || is_last(task));
}

/* Searches the list of tracees as wait4(-1) does, the newest first. */
struct fake_task *fake_ready(pid_t which)
{
	struct fake_task *best = NULL;

	for (size_t i = 0; i < task_count; i++)
		if ((which < 0 || tasks[i]->tid == which) && is_ready(tasks[i]) &&
		    (!best || tasks[i]->order > best->order))
			best = tasks[i];
	return best;
}

bool fake_has_children(pid_t which)
{
	for (size_t i = 0; i < task_count; i++)
		if (fake_is_ours(tasks[i]) && tasks[i]->state != FAKE_GONE && (which < 0 || tasks[i]->tid == which))
			return true;
	return false;
}

/* ---- Ends and execs ---- */

static void leave_memory(struct fake_task *task)
{
	struct fake_memory *memory = task->memory;

	task->memory = NULL;
	if (memory && !fake_users(memory))
		fake_memory_end(memory);
}

static void finish_exec(struct fake_task *task)
{
	struct fake_task *leader = fake_leader(task);
	const pid_t former = task->tid;
	char name[16];

	snprintf(name, sizeof(name), "%d.%u", task->tgid, ++execs + 1);
	struct fake_memory *memory = fake_memory_new(name, task->memory->has_tail);

	memory->refuses = task->memory->refuses;
	leave_memory(task);
	task->memory = memory;
	if (leader && leader != task) {
		task->trap = leader->trap;
		leader->state = FAKE_GONE; /* the leader's end is not reported */
		task->tid = task->tgid;
	}
	task->executing = false;
	task->trap = task->trap == 'h' ? 'd' : task->trap;
	task->group_stop = 0;
	fake_arch->registers.set_pc(&task->regs, fake_place_named("away")->address);
	if (task->dies_in_exec)
		fake_exit(task, SIGKILL);
	else if (fake_is_ours(task))
		fake_report(task, STATUS_EVENT(PTRACE_EVENT_EXEC, SIGTRAP), (unsigned long)former);
}

/* Finishes the exec of a task of the group when all other threads have ended; the leader may also be a zombie
 * (de_thread()). */
static void try_exec(pid_t tgid)
{
	struct fake_task *task = NULL;

	for (size_t i = 0; i < task_count; i++)
		if (tasks[i]->tgid == tgid && tasks[i]->executing && tasks[i]->state == FAKE_RUNS)
			task = tasks[i];
	for (size_t i = 0; task && i < task_count; i++) {
		const struct fake_task *other = tasks[i];

		if (other != task && other->tgid == tgid && other->state != FAKE_GONE &&
		    !(other->state == FAKE_ZOMBIE && other->tid == tgid))
			return;
	}
	if (task)
		finish_exec(task);
}

void fake_taken(struct fake_task *task)
{
	task->unread = false;
	if (task->state != FAKE_ZOMBIE)
		return;
	/* If a tracer has taken the end of a process that is not its child, the kernel untraces the process and leaves
	 * it to its parent (wait_task_zombie()). No parent of the fake kernel waits for it. */
	if (task->tid == task->tgid && fake_find(task->parent))
		task->tracer = 0;
	else
		task->state = FAKE_GONE;
	try_exec(task->tgid);
}

/* Makes init the parent of the children of a process that has ended. init is not modelled; it reaps children that have
 * ended. */
static void leave_children(pid_t tgid)
{
	for (size_t i = 0; i < task_count; i++)
		if (tasks[i]->parent == tgid) {
			tasks[i]->parent = 1;
			if (tasks[i]->state == FAKE_ZOMBIE && !tasks[i]->tracer)
				tasks[i]->state = FAKE_GONE;
		}
}

void fake_end(struct fake_task *task, int status)
{
	leave_memory(task);
	task->unread = true;
	task->status = status;
	fake_child_signal(task->tid);
	/* An untraced task has nothing to report to the tracer, so it is gone at once; but a leader with living threads
	 * stays a zombie. */
	task->state = fake_is_ours(task) || (task->tid == task->tgid && !is_last(task)) ? FAKE_ZOMBIE : FAKE_GONE;
	if (is_last(task))
		leave_children(task->tgid);
	try_exec(task->tgid);
}

void fake_exit(struct fake_task *task, int status)
{
	if (fake_is_ours(task)) {
		task->exit_event_seen =
			fake_report(task, STATUS_EVENT(PTRACE_EVENT_EXIT, SIGTRAP), (unsigned long)status);
		task->end = status;
	} else {
		fake_end(task, status);
	}
}

/* Kills one task. SIGKILL ends any stop, even the exit stop. */
static void kill_one(struct fake_task *task)
{
	if (task->state == FAKE_ZOMBIE || task->state == FAKE_GONE)
		return;
	if (task->exit_event_seen) {
		fake_go_on(task);
		return;
	}
	task->state = FAKE_RUNS;
	task->executing = task->vforking = false;
	task->queued_hit = 0;
	fake_exit(task, SIGKILL);
}

void fake_kill(pid_t tgid)
{
	for (size_t i = 0; i < task_count; i++)
		if (tasks[i]->tgid == tgid)
			kill_one(tasks[i]);
}

void fake_exec(struct fake_task *task)
{
	if (task->state != FAKE_RUNS || task->exit_event_seen) {
		fake_fail("%d cannot execute anything: it does not run", task->tid);
		return;
	}
	task->executing = true;
	for (size_t i = 0; i < task_count; i++)
		if (tasks[i] != task && tasks[i]->tgid == task->tgid)
			kill_one(tasks[i]);
	try_exec(task->tgid);
}

long fake_failed(int error)
{
	errno = error;
	return -1;
}

long fake_finished(int error)
{
	fake_done(error);
	return error ? fake_failed(error) : 0;
}

const char *fake_with_signal(long sig)
{
	static char text[40];

	snprintf(text, sizeof(text), "%s%s", sig ? " " : "", sig ? fake_signal_name((int)sig) : "");
	return text;
}
