/* Tasks: the table of tasks, their registers, and ptrace's requests. */
#ifndef FT_PTRACE_TASKS_H
#define FT_PTRACE_TASKS_H

#include "ptrace/tracee.h"

#include <signal.h>

/* ---- The table ---- */

/* Returns the task with that tid; NULL if it is not traced. */
struct task *task_find_slow(struct tracer *t, pid_t tid);
static inline struct task *task_find(struct tracer *t, pid_t tid)
{
	/* Uses a cache, because it is called several times per stop. */
	return t->last_found && t->last_found->tid == tid ? t->last_found : task_find_slow(t, tid);
}
/* Returns the leader of a thread group, or another task of it if the leader is not traced; NULL if none is traced. */
struct task *task_of_group(struct tracer *t, pid_t pid);
/* Iterates over all tasks: for (size_t i = 0; (task = tasks_next(t, &i));). The loop must not add or remove tasks. */
struct task *tasks_next(struct tracer *t, size_t *position);
/* Makes a task of process p (NULL: of none yet) in the table. The data of the layers above is not allocated. */
struct task *task_new(struct tracer *t, pid_t tid, pid_t tgid, struct process *p, enum task_phase phase);
/* Removes a task from the table and frees it. It must have left its process, and the layers above must have freed their
 * data about it. */
void task_delete(struct tracer *t, struct task *task);
/* Gives the task its leader's tid, which it has taken by an exec, and adds that tid to the guardian's journal. */
void task_rename(struct tracer *t, struct task *task, pid_t tid);

/* Resets this layer's data about a leader's state, because another task has taken its tid. */
void task_replace(struct task *leader);

/* Iterates over the tasks of a process; the loop's body may remove the current task. */
#define FOR_EACH_TASK(each, p)                                                                                         \
	for (struct task *each = (p)->tasks, *each##_next; each && (each##_next = each->sibling, true);                \
	     each = each##_next)

/* Adds a task that belongs to no process to a process. The task gets a reference to the process. */
void task_join(struct task *task, struct process *p);
/* Removes the task from its process, and returns the process with the task's reference to it; NULL: it had none. */
struct process *task_part(struct task *task);

/* ---- The state of a task ---- */

/* Returns true if the task uses its process's memory; false for an ending task, which soon has none. */
static inline bool task_has_memory(const struct task *task)
{
	return task->phase == PHASE_LIVE && !task->exit_event_seen && !task->has_left_mm;
}

/* Returns true if ptrace can access the task's memory and registers: the task is in a stop that was collected. */
static inline bool task_can_be_poked(const struct task *task)
{
	return task_has_memory(task) && task->stopped && !task->listening;
}

/* Returns true if the task runs the program or a system call, so that an interruption will stop it; false for a parent
 * in vfork, and for an ending task, which runs no program code and whose end may be reported late. */
static inline bool task_can_be_stopped(const struct task *task)
{
	return task->phase == PHASE_LIVE && !task->stopped && !task->vforking && !task->exit_event_seen &&
	       !task->skip_halt;
}

/* Returns true if the task sleeps in a system call that a stop would end with EINTR (arch.h, syscalls.eintr). */
bool task_would_see_eintr(const struct task *task);

/* ---- The process of a task ---- */

/* Returns true if tasks of the process (NULL: unknown) are to be detached rather than resumed. */
static inline bool process_is_leaving(const struct tracer *t, const struct process *p)
{
	return t->letting_go || (p && p->leaving);
}

/* Returns the task whose /proc entry shows the process: its anchor, else its leader, else a task with memory. */
pid_t process_proc_task(const struct process *p);

/* ---- Registers ---- */

/* Returns the processor of a task's program, by its ELF header; or NULL and errno. ENOEXEC: it is not supported. */
const struct arch *task_arch(pid_t tid);
/* Reads the registers of a stopped task. Returns 0 or -errno. */
int task_read_regs(struct task *task);
/* Reads the registers of a stopped task, once per stop. Returns 0 or -errno. */
static inline int task_regs(struct task *task)
{
	return task->regs_known ? 0 : task_read_regs(task);
}
/* Gets the pc of a stopped task that runs code of another mode than its program's (task_regs() returns -ENOTSUP).
 * Returns false if the register set of this mode is unknown or the task has ended. */
bool task_foreign_pc(const struct task *task, uint64_t *pc);
int task_set_regs(struct task *task);            /* writes all registers */
int task_set_pc(struct task *task, uint64_t pc); /* writes only the pc, also in task->regs */
void task_args(struct task *task, uint64_t args[CALL_ARGS]);
/* Reads the floating point registers of a stopped task in the layout of register set arch->abi->floats_set. Returns
 * the number of bytes, at most `size`; 0: the task has ended. */
size_t task_floats(const struct task *task, unsigned char *bytes, size_t size);
/* Does the same for the vector registers. If these have no register set, reads the floating point registers. */
size_t task_vectors(const struct task *task, unsigned char *bytes, size_t size);
/* Gets the thread pointer, the base of thread-local storage. Returns false if there is none yet, the registers do not
 * contain it, or the task has ended. */
bool task_thread_pointer(struct task *task, uint64_t *value);
/* Makes the kernel restart a system call that returned EINTR only because this stop interrupted it (epoll_wait and
 * similar). If a signal handler runs before the restart, the call returns EINTR nevertheless. */
void task_restart_syscall(struct task *task);

/* ---- ptrace's requests. If a task has been killed meanwhile, its end is still reported by a wait. ---- */

/* The options of every tracee, PTRACE_SEIZE's data. */
extern const unsigned long task_options;
/* Attaches to the task without stopping it. Returns 0 or -errno. */
int task_seize(pid_t tid);
/* Resumes the stopped task, delivers the signal (0: none), and forgets the task's registers. */
void task_resume(struct task *task, int sig);
/* Marks the task as running. Called outside of tasks.c if SIGKILL has ended the task's stop. */
void task_woken(struct task *task);
/* Resumes a thread that has reported a stop but is not in the table. */
void task_resume_stranger(pid_t tid);
/* Requests an EVENT_STOP from the task. Returns false if it has ended. */
bool task_interrupt(struct task *task);
/* Keeps the task in its group-stop so that it reports SIGCONT. Returns false if it is in no group-stop. */
bool task_listen(struct task *task);
/* Resumes the task for one instruction. Returns false if it has ended. */
bool task_step(struct task *task);
/* Resumes the task until the entry or exit of its next system call. Returns false if it has ended. */
bool task_run_to_syscall(struct task *task);
/* Detaches a stopped task, and delivers the signal (0: none). */
void task_detach(struct task *task, int sig);
/* Sets or clears PTRACE_O_SUSPEND_SECCOMP beside task_options. Returns false if that is not permitted. */
bool task_suspend_seccomp(struct task *task, bool suspended);
/* Gets the mask of the first 64 signals that a stopped task blocks. Returns false if it has ended. */
bool task_signal_mask(struct task *task, uint64_t *mask);
void task_set_signal_mask(struct task *task, uint64_t mask);
/* Blocks SIGTRAP again in a task that is stopped by a hit, if the hit has unblocked it (task->blocks_trap). */
void task_block_trap_again(struct task *task);
/* Gets the siginfo of the signal whose delivery has stopped the task. Returns false if there is none. */
bool task_siginfo(pid_t tid, siginfo_t *info);
/* Returns true if SIGKILL has ended the stop that was collected, so that the task is at its exit event. */
bool task_is_at_its_end(const struct task *task);
/* Replaces the siginfo of the signal whose delivery has stopped the task. */
void task_set_siginfo(struct task *task, const siginfo_t *info);
/* Returns the id in the message of a task's event; 0: there is none. */
pid_t task_event_message(pid_t tid);
/* Returns true if the task's siginfo says that a breakpoint's instruction has stopped it. */
bool task_hit_by_kernel(const struct task *task);
/* Returns true if a breakpoint's SIGTRAP is queued, which will stop the task after its present stop. */
bool task_has_trap_queued(const struct task *task);

#endif
