/* Keeps all threads of an untraced process stopped: see freeze_untraced.h. */
#include "config.h"
#include "ptrace/freeze_untraced.h"
#include "ptrace/exec_lock.h"
#include "proc/proc.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#define ROUNDS_MAX     1000          /* each round may find threads that were created by threads not stopped yet */
#define REFUSED_MAX    20            /* number of attempts to seize threads that are about to end */
#define YIELDS         200           /* number of sched_yield() before naps: a thread stops within microseconds */
#define WAIT_NS        2000000000ull /* limit for a thread that gets no CPU */
#define ASLEEP_WAIT_NS 20000000ull   /* limit for threads that sleep uninterruptibly in the kernel */
/* Replaces ASLEEP_WAIT_NS while no thread is stopped, because then the longer wait delays no thread. */
#define ALL_ASLEEP_WAIT_NS 200000000ull
#define TURN_NS            20000000ull /* limit for resumed threads to get a CPU */
#define ONES_TURN_NS       2000000ull  /* limit for one thread that runs while all others are stopped */
/* If several captures of one scan restart a call with a timeout, the timeout may expire this much later, in ns. */
#define LATE_NS      100000000ull
#define SYSCALL_STOP (SIGTRAP | 0x80) /* PTRACE_O_TRACESYSGOOD */

struct freeze_held {
	struct task task; /* must be first: the process's list links this member */
	int signal;       /* the signal that the kernel delivers when the thread continues; 0: none */
	bool is_grouped;  /* in a group-stop: a signal has stopped the process */
	bool has_ended;
	bool is_at_call; /* stopped at the entry or exit of a system call by PTRACE_SYSCALL */
	uint64_t turns;  /* number of times that the thread had been scheduled on a CPU when it was resumed */
};

static struct freeze_held *held_of(struct task *task)
{
	return (struct freeze_held *)(void *)task;
}

/* Collects the thread's next stop or exit, if there is one. Also called by the signal handler of exec_lock.c. */
static void take_report(struct freeze_held *held)
{
	int status;

	if (held->has_ended || held->task.stopped || waitpid(held->task.tid, &status, WNOHANG | __WALL) <= 0)
		return;
	const struct stop stop = stop_decode(held->task.tid, status, PHASE_LIVE);

	held->has_ended = !WIFSTOPPED(status);
	held->task.stopped = !held->has_ended;
	held->task.regs_known = false;
	held->is_grouped = stop.kind == STOP_GROUP;
	held->is_at_call = held->task.stopped && status >> 8 == SYSCALL_STOP;
	held->signal = held->task.stopped && !(status >> 16) && !held->is_at_call ? WSTOPSIG(status) : 0;
}

/* ---- Seizing ---- */

static struct frozen_process *volatile seizing;

static void look_for_ends(void)
{
	if (seizing)
		FOR_EACH_TASK(task, &seizing->process)
			take_report(held_of(task));
}

static int freeze_seize(struct frozen_process *frozen, pid_t tid)
{
	seizing = frozen;
	atomic_signal_fence(memory_order_seq_cst);
	/* Sets no event options, so that the kernel does not attach functrace to new threads and children. */
	const int error = ptrace(PTRACE_SEIZE, tid, NULL, (void *)PTRACE_O_TRACESYSGOOD) < 0 ? -errno : 0;

	atomic_signal_fence(memory_order_seq_cst);
	seizing = NULL;
	return error;
}

static struct task *freeze_find(struct frozen_process *frozen, pid_t tid)
{
	FOR_EACH_TASK(task, &frozen->process)
		if (task->tid == tid)
			return task;
	return NULL;
}

struct round {
	struct frozen_process *frozen;
	struct hash known; /* tids of the seized threads */
	size_t fresh, refused;
	int error;
};

static bool freeze_seize_unknown(void *context, pid_t tid)
{
	struct round *round = context;

	if (hash_get(&round->known, (uint64_t)tid))
		return true;
	const int error = freeze_seize(round->frozen, tid);

	if (error) {
		if (proc_is_alive(tid) && !proc_is_kernel_worker(tid)) {
			round->refused++;
			round->error = error;
		}
		return true;
	}
	struct freeze_held *held = xcalloc(1, sizeof(*held));

	held->task =
		(struct task){.tid = tid, .tgid = round->frozen->process.pid, .journal_task = -1, .phase = PHASE_LIVE};
	task_join(&held->task, &round->frozen->process);
	hash_set(&round->known, (uint64_t)tid, 1);
	round->fresh++;
	return true;
}

static void freeze_drop(struct task *task)
{
	task_part(task);
	free(task);
}

static void freeze_drop_ended(struct frozen_process *frozen)
{
	FOR_EACH_TASK(task, &frozen->process)
		if (held_of(task)->has_ended)
			freeze_drop(task);
}

/* Seizes the threads that are not seized yet, in one pass over the list of threads. Returns how many were seized.
 * *error gets 0, or the -errno of reading the list or of a thread that could not be seized. */
static size_t freeze_seize_round(struct frozen_process *frozen, int *error)
{
	struct round round = {.frozen = frozen};

	FOR_EACH_TASK(task, &frozen->process)
		hash_set(&round.known, (uint64_t)task->tid, 1);
	exec_lock_watch(look_for_ends);
	*error = proc_each_thread(frozen->process.pid, freeze_seize_unknown, &round);
	exec_lock_unwatch();
	hash_free(&round.known);
	if (!*error && round.refused)
		*error = round.error;
	return round.fresh;
}

int freeze_begin(struct frozen_process *frozen, pid_t pid, const struct arch *arch)
{
	unsigned rounds = 0, refused = 0;
	size_t fresh;
	int error;

	*frozen = (struct frozen_process){.process = {.pid = pid, .arch = arch, .mem_fd = -1, .guard = -1}};
	do
		fresh = freeze_seize_round(frozen, &error);
	while (error != -ESRCH && ((fresh && rounds++ < ROUNDS_MAX) || (error && refused++ < REFUSED_MAX)));
	return error ? error : frozen->process.tasks ? 0 : -ESRCH;
}

/* ---- Stopping ---- */

/* Returns true if all threads that are not stopped are in uninterruptible sleep. */
static bool only_sleepers_move(struct frozen_process *frozen)
{
	struct proc_stat stat;

	FOR_EACH_TASK(task, &frozen->process)
		if (!task->stopped && proc_stat(task->tid, &stat) && stat.state != 'D')
			return false;
	return true;
}

static size_t take_reports(struct frozen_process *frozen)
{
	size_t moving = 0;

	FOR_EACH_TASK(task, &frozen->process)
		take_report(held_of(task));
	freeze_drop_ended(frozen);
	FOR_EACH_TASK(task, &frozen->process)
		moving += !task->stopped;
	return moving;
}

static void freeze_nap(unsigned *looks)
{
	if (++*looks < YIELDS)
		sched_yield();
	else
		nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

static void wait_for_stops(struct frozen_process *frozen)
{
	const uint64_t began = clock_ns(CLOCK_MONOTONIC);
	unsigned looks = 0;

	for (bool is_last = false; (frozen->moving = take_reports(frozen)) && !is_last;) {
		const uint64_t waited = clock_ns(CLOCK_MONOTONIC) - began;

		const bool are_held_up = frozen->moving < frozen->process.task_count;

		/* After the limit, look once more, because functrace itself may have waited for a CPU since the last
		 * look. */
		is_last = waited > WAIT_NS ||
			  (waited > (are_held_up ? ASLEEP_WAIT_NS : ALL_ASLEEP_WAIT_NS) && only_sleepers_move(frozen));
		if (!is_last)
			freeze_nap(&looks);
	}
	frozen->stopped = frozen->process.task_count - frozen->moving;
}

static void interrupt_moving(struct frozen_process *frozen)
{
	FOR_EACH_TASK(task, &frozen->process)
		if (!task->stopped && !task->interrupted)
			task->interrupted = task_interrupt(task);
}

int freeze_stop(struct frozen_process *frozen)
{
	unsigned rounds = 0;
	int error;

	do {
		interrupt_moving(frozen);
		wait_for_stops(frozen);
	} while (freeze_seize_round(frozen, &error) && rounds++ < ROUNDS_MAX);
	return frozen->stopped ? 0 : frozen->moving ? -EBUSY : -ESRCH;
}

/* ---- Stopped threads, and resuming ---- */

bool freeze_in_syscall(struct task *task, long *number)
{
	const struct arch *arch = task->process->arch;
	unsigned char code[4] = {0};
	uint64_t pc;
	long any;

	number = number ? number : &any;
	if (!arch->syscalls.interrupted)
		return proc_syscall(task->tid, number, &pc);
	if (task_regs(task) < 0)
		return false;
	const struct iovec to = {code, sizeof(code)};
	const struct iovec from = {(void *)(uintptr_t)arch_text_address(arch, arch->registers.pc(&task->regs)),
				   sizeof(code)};

	return process_vm_readv(task->tid, &to, 1, &from, 1, 0) >= 2 &&
	       arch->syscalls.interrupted(&task->regs, code, number);
}

bool freeze_begins_call(struct task *task, long *number)
{
	struct __ptrace_syscall_info info;

	if (!held_of(task)->is_at_call ||
	    ptrace(PTRACE_GET_SYSCALL_INFO, task->tid, (void *)sizeof(info), &info) <= 0 ||
	    info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return false;
	*number = (long)info.entry.nr;
	return true;
}

bool freeze_is_grouped(struct frozen_process *frozen)
{
	FOR_EACH_TASK(task, &frozen->process)
		if (held_of(task)->is_grouped)
			return true;
	return false;
}

/* Prepares the thread's registers for resuming. Returns the signal to resume it with. */
static int get_ready(struct freeze_held *held)
{
	/* Restart no system call after a stop by PTRACE_SYSCALL: at the exit of a system call the kernel has not yet
	 * decided whether a handler runs, and thus whether EINTR is returned. */
	if (!held->is_grouped && !held->is_at_call && !stops_or_continues(held->signal))
		task_restart_syscall(&held->task);
	return held->signal;
}

/* Interrupts the threads that have been scheduled since they were resumed. Returns false if some thread has not run
 * yet: on a busy machine it may wait for a CPU longer than any fixed pause. */
static bool interrupt_runners(struct frozen_process *frozen)
{
	uint64_t turns;
	bool all = true;

	FOR_EACH_TASK(task, &frozen->process) {
		if (task->stopped || task->interrupted)
			continue;
		if (proc_turns(task->tid, &turns) && turns == held_of(task)->turns)
			all = false;
		else
			task->interrupted = task_interrupt(task);
	}
	return all;
}

static void freeze_resume(struct freeze_held *held)
{
	const int signal = get_ready(held);

	if (!proc_turns(held->task.tid, &held->turns))
		held->turns = UINT64_MAX;
	held->signal = 0;
	held->task.interrupted = false;
	task_resume(&held->task, signal);
}

static void resume_to_call(struct freeze_held *held)
{
	const int signal = get_ready(held);

	held->signal = 0;
	held->task.interrupted = false;
	held->task.stopped = held->task.regs_known = false;
	/* ESRCH: the thread has been killed meanwhile; its end is still reported by a wait. */
	ptrace(PTRACE_SYSCALL, held->task.tid, NULL, (void *)(long)signal);
}

size_t freeze_run(struct frozen_process *frozen, bool (*is_chosen)(void *context, struct task *task), void *context)
{
	const uint64_t began = clock_ns(CLOCK_MONOTONIC);
	unsigned looks = 0;
	size_t count = 0;

	FOR_EACH_TASK(task, &frozen->process)
		if (task->stopped && !held_of(task)->is_grouped && is_chosen(context, task)) {
			freeze_resume(held_of(task));
			count++;
		}
	while (count && !interrupt_runners(frozen) && clock_ns(CLOCK_MONOTONIC) - began < TURN_NS)
		freeze_nap(&looks);
	interrupt_moving(frozen);
	wait_for_stops(frozen);
	return count;
}

static void run_to_call(struct frozen_process *frozen, struct freeze_held *held,
			bool (*is_over)(void *context, struct task *task), void *context)
{
	const uint64_t began = clock_ns(CLOCK_MONOTONIC);
	unsigned looks = 0;

	resume_to_call(held);
	while (!held->has_ended && clock_ns(CLOCK_MONOTONIC) - began < ONES_TURN_NS) {
		take_report(held);
		if (held->task.stopped && (!held->is_at_call || is_over(context, &held->task)))
			break;
		if (held->task.stopped)
			resume_to_call(held);
		else
			freeze_nap(&looks);
	}
	interrupt_moving(frozen);
	wait_for_stops(frozen);
}

size_t freeze_run_to_calls(struct frozen_process *frozen, uint64_t deadline_ns,
			   bool (*begin_turn)(void *context, struct task *task),
			   bool (*is_over)(void *context, struct task *task), void *context)
{
	pid_t *const tids = xcalloc(frozen->process.task_count + 1, sizeof(*tids));
	size_t count = 0, ran = 0;

	FOR_EACH_TASK(task, &frozen->process)
		tids[count++] = task->tid;
	/* Looks up each tid again, because a thread may end while another thread runs. */
	for (size_t i = 0; i < count && clock_ns(CLOCK_MONOTONIC) < deadline_ns; i++) {
		struct task *const task = freeze_find(frozen, tids[i]);

		if (!task || !task->stopped || held_of(task)->is_grouped || !begin_turn(context, task))
			continue;
		run_to_call(frozen, held_of(task), is_over, context);
		ran++;
	}
	free(tids);
	return ran;
}

static uint64_t began_anew(const struct freeze_waits *waits, pid_t tid, uint64_t sp, uint64_t now)
{
	for (size_t i = 0; i < waits->count; i++)
		if (waits->items[i].tid == tid && waits->items[i].sp == sp)
			return waits->items[i].began_ns;
	return now;
}

/* Returns true if the thread's system call with a timeout must end with EINTR, because functrace first restarted it too
 * long ago. Adds the system call to `now`, the list that replaces `before`. */
static bool ends_wait(const struct freeze_waits *before, struct freeze_waits *now, struct freeze_held *held)
{
	const struct arch *const arch = held->task.process->arch;

	if (!before || !arch->syscalls.has_timeout || held->is_grouped || held->is_at_call ||
	    task_regs(&held->task) < 0 || !arch->syscalls.has_timeout(&held->task.regs))
		return false;
	const uint64_t sp = arch->registers.sp(&held->task.regs), time = clock_ns(CLOCK_MONOTONIC);
	const uint64_t began = began_anew(before, held->task.tid, sp, time);

	now->items[now->count++] = (struct freeze_wait){held->task.tid, sp, began};
	return time - began > LATE_NS;
}

void freeze_end(struct frozen_process *frozen)
{
	struct freeze_waits now = {0};

	take_reports(frozen);
	now.items = xcalloc(frozen->process.task_count + 1, sizeof(*now.items));
	FOR_EACH_TASK(task, &frozen->process) {
		struct freeze_held *const held = held_of(task);

		if (task->stopped)
			task_detach(task, ends_wait(frozen->waits, &now, held) ? held->signal : get_ready(held));
		freeze_drop(task);
	}
	if (frozen->waits) {
		free(frozen->waits->items);
		*frozen->waits = now;
	} else {
		free(now.items);
	}
	frozen->stopped = frozen->moving = 0;
}

void freeze_waits_free(struct freeze_waits *waits)
{
	free(waits->items);
	*waits = (struct freeze_waits){0};
}
