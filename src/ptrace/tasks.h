/* Tasks: the table of them, their registers, and what ptrace has them do. */
#ifndef FT_PTRACE_TASKS_H
#define FT_PTRACE_TASKS_H

#include "ptrace/tracee.h"

#include <signal.h>

/* ---- The table ---- */

/* The task of that id; NULL: it is not traced. */
struct task *task_find_slow(struct tracer *t, pid_t tid);
static inline struct task *task_find(struct tracer *t, pid_t tid)
{
	/* Asked for several times a stop. */
	return t->last_found && t->last_found->tid == tid ? t->last_found : task_find_slow(t, tid);
}
/* The leader of a thread group, or else another task of it; NULL none. */
struct task *task_of_group(struct tracer *t, pid_t pid);
/* for (size_t i = 0; (task = tasks_next(t, &i));): all tasks there are. No task may come or go meanwhile. */
struct task *tasks_next(struct tracer *t, size_t *position);
/* A new task of a process (NULL: of none yet), without the parts of the floors above. */
struct task *task_new(struct tracer *t, pid_t tid, pid_t tgid, struct process *p, enum task_phase phase);
/* Takes a task out of the table, and frees what this floor knows of it. It belongs to no process any more. */
void task_delete(struct tracer *t, struct task *task);
/* The task gets another id, and a seat under it: it has taken its leader's place by an exec. */
void task_rename(struct tracer *t, struct task *task, pid_t tid);

/* Another task has taken the leader's id and place: what this floor knew of its state is forgotten. */
void task_replace(struct task *leader);

/* The tasks of a process; the one that the loop is at may leave it. */
#define FOR_EACH_TASK(each, p)                                                                                         \
	for (struct task *each = (p)->tasks, *each##_next; each && (each##_next = each->sibling, true);                \
	     each = each##_next)

/* Puts a task that has no process into one, which has one reference more. */
void task_join(struct task *task, struct process *p);
/* Takes the task out of its process. The caller has its reference then; NULL: it had none. */
struct process *task_part(struct task *task);

/* ---- What can be done with one ---- */

/* It uses its process's memory. One that ends has none any more, or soon. */
static inline bool task_has_memory(const struct task *task)
{
	return task->phase == PHASE_LIVE && !task->exiting && !task->elsewhere;
}

/* ptrace reads and writes its memory and registers: it stands in a stop that is acted on later. */
static inline bool task_can_be_poked(const struct task *task)
{
	return task_has_memory(task) && task->stopped && !task->listening;
}

/* It runs the program, or a system call, and an interruption will stop it. A parent in vfork cannot be stopped; one
 * that ends runs none of the program any more, and a leader's end is reported only after those of all others. */
static inline bool task_can_be_stopped(const struct task *task)
{
	return task->phase == PHASE_LIVE && !task->stopped && !task->vforking && !task->exiting && !task->is_spared;
}

/* Whether it sleeps in a call that would end with EINTR if it were stopped (arch.h, syscalls.eintr). */
bool task_would_see_eintr(const struct task *task);

/* ---- The process of tasks ---- */

/* Whether a task of the process (NULL: not known) is to be detached rather than to go on. */
static inline bool process_is_leaving(const struct tracer *t, const struct process *p)
{
	return t->letting_go || (p && p->leaving);
}

/* A task under whose id /proc shows the process: its anchor, the leader, or another if that has ended. */
pid_t process_proc_task(const struct process *p);

/* ---- Registers ---- */

/* The processor that the program of a task was made for, by its ELF header. NULL: errno, ENOEXEC if this build does not
 * know it. */
const struct arch *task_arch(pid_t tid);
/* Reads the registers of a stopped task. 0 or -errno. */
int task_read_regs(struct task *task);
/* Registers of a stopped task: read once a stop. 0 or -errno. */
static inline int task_regs(struct task *task)
{
	return task->regs_known ? 0 : task_read_regs(task);
}
/* The pc of a stopped task whose registers, as the kernel gives them (task_regs(): -ENOTSUP), have the form of another
 * processor: it runs code of another mode than its program's. False: no form that is known, or the task has gone. */
bool task_foreign_pc(const struct task *task, uint64_t *pc);
int task_set_regs(struct task *task);            /* all of them */
int task_set_pc(struct task *task, uint64_t pc); /* only the pc, in task->regs too */
void task_args(struct task *task, uint64_t args[CALL_ARGS]);
/* The floating point registers of a stopped task, as the register set arch->abi->floats_set has them. How many bytes
 * there are, `size` at most; 0: it has gone. */
size_t task_floats(const struct task *task, unsigned char *bytes, size_t size);
/* The same with all that its vector registers have, in whatever form the kernel gives them. */
size_t task_vectors(const struct task *task, unsigned char *bytes, size_t size);
/* Where the thread's own variables are. False: it has none yet, its registers do not tell, or it has gone. */
bool task_thread_pointer(struct task *task, uint64_t *value);
/* A system call that said EINTR only because this stop woke it (epoll_wait and its like) is made again, unless a
 * handler runs after all. */
void task_restart_syscall(struct task *task);

/* ---- ptrace's requests. A task that has been killed meanwhile reports its end like any other. ---- */

/* What a tracee is to report: PTRACE_SEIZE's data. */
extern const unsigned long task_options;
/* 0 or -errno. */
int task_seize(pid_t tid);
/* Has the stopped task go on, with a signal delivered (0: none); nothing of this stop is known any more. */
void task_resume(struct task *task, int sig);
/* It is no longer stopped, of itself: SIGKILL has woken it. */
void task_woken(struct task *task);
/* One that has reported itself and is no task of ours goes on. */
void task_resume_stranger(pid_t tid);
/* Asks the task for an EVENT_STOP. False: it has gone. */
bool task_interrupt(struct task *task);
/* Leaves it in its group-stop, where it reports SIGCONT. False: it is in none. */
bool task_listen(struct task *task);
/* Resumes it for one instruction. False: it has gone. */
bool task_step(struct task *task);
/* Resumes it to the entry or the exit of its next system call. False: it has gone. */
bool task_run_to_syscall(struct task *task);
/* Lets go of a stopped task, with a signal delivered (0: none). */
void task_detach(struct task *task, int sig);
/* PTRACE_O_SUSPEND_SECCOMP besides the options that every task has. False: not permitted. */
bool task_suspend_seccomp(struct task *task, bool suspended);
/* The signals that a stopped task blocks, the first 64. False: it has gone. */
bool task_signal_mask(struct task *task, uint64_t *mask);
/* Sets them. */
void task_set_signal_mask(struct task *task, uint64_t mask);
/* Blocks SIGTRAP again in a task that is stopped by a hit, where the hit has unblocked it (task->blocks_trap). */
void task_block_trap_again(struct task *task);
/* What the signal says whose delivery has stopped the task. False: it stopped for no signal, or has gone. */
bool task_siginfo(pid_t tid, siginfo_t *info);
/* Whether it has come to its end, of which it stops next: SIGKILL has ended the stop that it was in. */
bool task_is_at_its_end(const struct task *task);
/* Changes it. */
void task_set_siginfo(struct task *task, const siginfo_t *info);
/* The id that an event's message has; 0: there is none. */
pid_t task_event_message(pid_t tid);
/* A trap of a breakpoint's instruction, by its siginfo. */
bool task_hit_by_kernel(const struct task *task);
/* Whether such a trap is queued behind the stop in which the task is. */
bool task_has_trap_queued(const struct task *task);

#endif
