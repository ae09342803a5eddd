/* Tasks: the table of tasks, their registers, and ptrace's requests. */
#ifndef FT_PTRACE_TASKS_H
#define FT_PTRACE_TASKS_H

#include "ptrace/tracee.h"

#include <signal.h>

/* ---- The table ---- */

/* Finds the task with that id; NULL if it is not traced. */
struct task *task_find_slow(struct tracer *t, pid_t tid);
static inline struct task *task_find(struct tracer *t, pid_t tid)
{
	/* Called several times per stop. */
	return t->last_found && t->last_found->tid == tid ? t->last_found : task_find_slow(t, tid);
}
/* The leader of a thread group, or else another task of it; or NULL. */
struct task *task_of_group(struct tracer *t, pid_t pid);
/* Iterates over all tasks: for (size_t i = 0; (task = tasks_next(t, &i));). No task may come or go meanwhile. */
struct task *tasks_next(struct tracer *t, size_t *position);
/* Makes a task of a process (NULL: of none yet), without the parts that belong to the floors above. */
struct task *task_new(struct tracer *t, pid_t tid, pid_t tgid, struct process *p, enum task_phase phase);
/* Removes a task, which has left its process, from the table, and frees this floor's data about it. */
void task_delete(struct tracer *t, struct task *task);
/* Gives the task another id, and a seat under it: the task has taken its leader's place by an exec. */
void task_rename(struct tracer *t, struct task *task, pid_t tid);

/* Resets this floor's data about a leader's state, because another task has taken its id and place. */
void task_replace(struct task *leader);

/* Iterates over the tasks of a process; the loop's body may remove the current task. */
#define FOR_EACH_TASK(each, p)                                                                                         \
	for (struct task *each = (p)->tasks, *each##_next; each && (each##_next = each->sibling, true);                \
	     each = each##_next)

/* Puts a task without a process into a process, and takes a reference of the process. */
void task_join(struct task *task, struct process *p);
/* Removes the task from its process. The caller gets its reference; NULL: it had no process. */
struct process *task_part(struct task *task);

/* ---- The state of a task ---- */

/* True if the task uses its process's memory. An ending task has no memory any more, or will soon have none. */
static inline bool task_has_memory(const struct task *task)
{
	return task->phase == PHASE_LIVE && !task->exit_event_seen && !task->has_left_mm;
}

/* True if ptrace can access the task's memory and registers: it is in a stop that is handled later. */
static inline bool task_can_be_poked(const struct task *task)
{
	return task_has_memory(task) && task->stopped && !task->listening;
}

/* True if the task runs the program or a system call, so that an interruption will stop it. False for a parent in
 * vfork, and for an ending task: that runs no code of the program, and a leader's end is reported after all others. */
static inline bool task_can_be_stopped(const struct task *task)
{
	return task->phase == PHASE_LIVE && !task->stopped && !task->vforking && !task->exit_event_seen &&
	       !task->skip_halt;
}

/* True if the task sleeps in a system call that would fail with EINTR if it were stopped (arch.h, syscalls.eintr). */
bool task_would_see_eintr(const struct task *task);

/* ---- The process of a task ---- */

/* True if tasks of the process (NULL: not known) are to be detached rather than resumed. */
static inline bool process_is_leaving(const struct tracer *t, const struct process *p)
{
	return t->letting_go || (p && p->leaving);
}

/* A task under whose id /proc shows the process: its anchor, the leader, or another task if the leader has ended. */
pid_t process_proc_task(const struct process *p);

/* ---- Registers ---- */

/* The processor for which the program of a task was made, by its ELF header. NULL and errno; ENOEXEC: this build does
 * not support it. */
const struct arch *task_arch(pid_t tid);
/* Reads the registers of a stopped task. 0 or -errno. */
int task_read_regs(struct task *task);
/* Reads the registers of a stopped task, once per stop. 0 or -errno. */
static inline int task_regs(struct task *task)
{
	return task->regs_known ? 0 : task_read_regs(task);
}
/* Gets the pc of a stopped task whose registers have the form of another processor (task_regs(): -ENOTSUP): it runs
 * code of another mode than its program's. Returns false if the form is unknown or the task has ended. */
bool task_foreign_pc(const struct task *task, uint64_t *pc);
int task_set_regs(struct task *task);            /* writes all registers */
int task_set_pc(struct task *task, uint64_t pc); /* writes only the pc, also in task->regs */
void task_args(struct task *task, uint64_t args[CALL_ARGS]);
/* Reads the floating point registers of a stopped task in the layout of register set arch->abi->floats_set. Returns
 * the number of bytes, at most `size`; 0: the task has ended. */
size_t task_floats(const struct task *task, unsigned char *bytes, size_t size);
/* The same with the whole vector registers, in the layout that the kernel uses. */
size_t task_vectors(const struct task *task, unsigned char *bytes, size_t size);
/* Gets the address of the thread's local variables. Returns false if there is none yet, the registers do not contain
 * it, or the task has ended. */
bool task_thread_pointer(struct task *task, uint64_t *value);
/* Makes a system call restart that returned EINTR only because this stop woke it (epoll_wait and similar), unless a
 * handler runs after all. */
void task_restart_syscall(struct task *task);

/* ---- ptrace's requests. A task that has been killed meanwhile reports its end like any other. ---- */

/* The events that a tracee reports: PTRACE_SEIZE's data. */
extern const unsigned long task_options;
/* Attaches to the task without stopping it. 0 or -errno. */
int task_seize(pid_t tid);
/* Resumes the stopped task, with a signal delivered (0: none), and forgets its registers. */
void task_resume(struct task *task, int sig);
/* Notes that SIGKILL has woken the task from its stop. */
void task_woken(struct task *task);
/* Resumes a thread that has reported a stop but is not in the table. */
void task_resume_stranger(pid_t tid);
/* Asks the task for an EVENT_STOP. False: it has ended. */
bool task_interrupt(struct task *task);
/* Leaves the task in its group-stop, in which it reports SIGCONT. False: it is in none. */
bool task_listen(struct task *task);
/* Resumes the task for one instruction. False: it has ended. */
bool task_step(struct task *task);
/* Resumes the task to the entry or exit of its next system call. False: it has ended. */
bool task_run_to_syscall(struct task *task);
/* Detaches a stopped task, with a signal delivered (0: none). */
void task_detach(struct task *task, int sig);
/* Sets or clears PTRACE_O_SUSPEND_SECCOMP besides the options of every task. False: not permitted. */
bool task_suspend_seccomp(struct task *task, bool suspended);
/* Gets the first 64 signals that a stopped task blocks. False: it has ended. */
bool task_signal_mask(struct task *task, uint64_t *mask);
void task_set_signal_mask(struct task *task, uint64_t mask);
/* Blocks SIGTRAP again in a task that is stopped by a hit, if the hit has unblocked it (task->blocks_trap). */
void task_block_trap_again(struct task *task);
/* Gets the siginfo of the signal whose delivery has stopped the task. False: no signal stopped it, or it has ended. */
bool task_siginfo(pid_t tid, siginfo_t *info);
/* True if SIGKILL has ended the stop that the task was in: its next stop is its exit event. */
bool task_is_at_its_end(const struct task *task);
/* Replaces the siginfo that task_siginfo() gets. */
void task_set_siginfo(struct task *task, const siginfo_t *info);
/* The id in the message of a task's event; 0: there is none. */
pid_t task_event_message(pid_t tid);
/* True if the task's stop is a trap of a breakpoint's instruction, by its siginfo. */
bool task_hit_by_kernel(const struct task *task);
/* True if such a trap is queued after the stop that the task is in. */
bool task_has_trap_queued(const struct task *task);

#endif
