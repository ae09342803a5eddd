/* Corrects the tasks that were traced when the engine (E) was killed; runs in the guardian (G).
 *
 * A task that has hit a breakpoint is in a signal-delivery-stop, with its pc after the breakpoint's bytes. There are
 * three cases:
 *   - E has not collected the stop: the signal is still in it (exit_code in /proc/TID/stat), and is delivered when the
 *     tracer ends. The process dies of SIGTRAP, unless it handles or ignores SIGTRAP. If it survives, the task's pc has
 *     to be set back to the instruction.
 *   - E has collected the stop, and has not set the pc yet: no signal is delivered, and the task would continue in the
 *     middle of its instruction. G sends it a SIGSTOP while E still traces it: in get_signal() the task finds that
 *     signal before it can return to the program. Then G attaches to the task, sets its pc, and detaches it without
 *     the SIGSTOP, mostly before the SIGSTOP has stopped the process.
 *   - E has set the pc to the instruction, its copy or a jump's target: the task continues there.
 *
 * A task that was making a system call for the engine (sigtrap.c) gets a SIGSTOP in the same way, and its own
 * registers back.
 *
 * Pending signals with handlers are delivered before SIGSTOP: then their frames are on the stack, one inside the other,
 * and the innermost frame contains the pc that has to be corrected. */
#include "config.h"
#include "engine/rescue_tasks.h"
#include "base/msg.h"
#include "proc/proc.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct rescued_task {
	pid_t tid;
	size_t process;
	uint64_t pc, sp;  /* the task's pc and sp at its stop */
	uint64_t address; /* address of the instruction that the task has to repeat */
	bool is_borrowed; /* the task makes a system call for the engine: all registers have to be restored */
};

/* ---- Inspecting ---- */

/* Returns the number in the line `key` of /proc/TID/status; 0 if there is no such line. */
static uint64_t field_of(const char *status, const char *key, int base)
{
	uint64_t value;

	return proc_status_number(status, key, 0, base, &value) ? value : 0;
}

/* How a task reacts to signals. */
struct signals {
	bool trap_kills;  /* SIGTRAP kills its process */
	bool trap_queued; /* SIGTRAP is pending: the task has hit a breakpoint, but has not stopped yet */
	/* A signal that stops the tracee, but that the program does not notice: it is ignored by default, and neither
	 * caught, blocked nor pending. SIGSTOP if there is no such signal. */
	int unnoticed;
};

static struct signals signals_of(const char *status)
{
	static const int by_default_ignored[] = {SIGURG, SIGWINCH, SIGCHLD, SIGCONT};
	const uint64_t trap = 1ull << (SIGTRAP - 1), caught = field_of(status, "SigCgt", 16),
		       pending = field_of(status, "SigPnd", 16);
	const uint64_t noticed = caught | field_of(status, "SigBlk", 16) | pending;
	struct signals signals = {.trap_kills = !((caught | field_of(status, "SigIgn", 16)) & trap),
				  .trap_queued = pending & trap,
				  .unnoticed = SIGSTOP};

	for (size_t i = ARRAY_SIZE(by_default_ignored); i-- > 0;)
		if (!(noticed & 1ull << (by_default_ignored[i] - 1)))
			signals.unnoticed = by_default_ignored[i];
	return signals;
}

/* Returns the index in r->processes of the task's process, and adds the process if it is new. Returns SIZE_MAX if the
 * engine does not trace the task (any more). *signals gets the task's reaction to signals. */
static size_t rescue_process_of(struct rescue *r, pid_t tid, struct signals *signals)
{
	char *status = proc_read(tid, "status", NULL);
	const pid_t pid = (pid_t)field_of(status, "Tgid", 10);
	const bool ours = pid && (!r->tracer || (pid_t)field_of(status, "TracerPid", 10) == r->tracer);
	size_t i = 0;

	*signals = signals_of(status);
	free(status);
	if (!ours)
		return SIZE_MAX;
	while (i < r->process_count && r->processes[i].pid != pid)
		i++;
	if (i < r->process_count)
		return i;
	ARRAY_GROW(r->processes, r->process_capacity, r->process_count);
	r->processes[r->process_count++] = (struct rescued_process){.pid = pid, .handle = process_handle(pid)};
	char *name = proc_read(pid, "comm", NULL);

	if (name)
		snprintf(r->processes[i].name, sizeof(r->processes[i].name), "%.*s", (int)strcspn(name, "\n"), name);
	free(name);
	return i;
}

/* Returns the task's state in /proc; 0 if there is no such task. *code: the signal that the kernel delivers when the
 * task's stop ends. */
static char state_of(pid_t tid, int *code)
{
	struct proc_stat stat = {0};

	if (!proc_stat(tid, &stat))
		stat.state = 0;
	*code = stat.exit_code;
	return stat.state;
}

/* Returns true if the task's pc follows an address for which the journal has, or recently had, a breakpoint; *address
 * gets that address. The original bytes have been restored, so they must be there; otherwise the breakpoint is the
 * program's own, or the process has called execve. */
static bool is_after_breakpoint(const struct rescue *r, pid_t tid, uint64_t pc, uint64_t *address)
{
	const struct shared_state *const shared = r->shared;
	const size_t high = atomic_load(&shared->note_high);
	bool found = false;

	*address = arch_native()->breakpoint.hit_address(pc);
	const int fd = proc_open(tid, "mem", O_RDONLY);

	for (size_t i = 0; fd >= 0 && i < high && i < GUARD_NOTES && !found; i++) {
		const struct guard_note *const note = &shared->notes[i];
		const unsigned known = atomic_load(&note->size),
			       size = known ? known : 1; /* a note that is no longer in use has no size */
		unsigned char there[sizeof(note->original)];

		/* Compares all bytes, because AArch64's breakpoint begins with the same byte as many instructions. */
		found = size <= sizeof(there) && note->address == *address &&
			pread(fd, there, size, (off_t)*address) == (ssize_t)size &&
			!memcmp(there, note->original, size);
	}
	if (fd >= 0)
		close(fd);
	return found;
}

/* ---- Sending SIGSTOP ---- */

static void rescue_hold(struct rescue *r, const struct rescued_task *task)
{
	ARRAY_GROW(r->tasks, r->task_capacity, r->task_count);
	r->tasks[r->task_count++] = *task;
	syscall(SYS_tgkill, r->processes[task->process].pid, task->tid, SIGSTOP);
}

/* Returns true for the plain SIGTRAP of a breakpoint, false for ptrace's events. */
static bool rescue_is_trap(int status)
{
	return status == (SIGTRAP << 8 | 0x7f);
}

/* Returns the latest stop that the engine has collected from the task. *sent_on: the engine has changed the task's pc
 * or sp since. */
static int last_stop(const struct rescue *r, const struct journal_task *journal_task, pid_t tid, uint64_t pc,
		     uint64_t sp, bool *sent_on)
{
	const siginfo_t *const taken = &r->shared->taken;

	*sent_on = false;
	if (taken->si_pid == tid)
		return guard_status(taken->si_code, taken->si_status);
	*sent_on = journal_task->pc && (journal_task->pc != pc || journal_task->sp != sp);
	return journal_task->status;
}

/* Finds out whether a task has to be corrected; if so, sends SIGSTOP to the task. Returns false if this is still
 * unknown, because the task runs, may have hit a breakpoint, and its program may survive the SIGTRAP. In this case the
 * first call (again: false) sends a signal that stops the task. */
static bool rescue_look_at(struct rescue *r, const struct journal_task *journal_task, bool again)
{
	const pid_t tid = atomic_load(&journal_task->tid), borrowed = atomic_load(&r->shared->borrowed);
	struct signals signals;
	struct rescued_task task = {.tid = tid, .process = rescue_process_of(r, tid, &signals)};
	bool sent_on;
	int code;

	if (task.process == SIZE_MAX || !r->tracer)
		return true;
	task.is_borrowed = borrowed == tid;
	if (task.is_borrowed) {
		rescue_hold(r, &task);
		return true;
	}
	const char state = state_of(tid, &code);

	/* While a task makes a system call for the engine (borrowed), trap_kills is not certain: the call may set
	 * SIGTRAP to ignored again. */
	if ((state == 'R' || signals.trap_queued) && (again || borrowed || !signals.trap_kills)) {
		if (!again) {
			syscall(SYS_tgkill, r->processes[task.process].pid, tid, signals.unnoticed);
			/* The kernel delivers SIGSTOP when the engine's thread ends, so rescue_end() sends SIGCONT. */
			r->processes[task.process].stopped |= signals.unnoticed == SIGSTOP;
		}
		return false;
	}
	/* The task has hit a breakpoint, and waits for a CPU before it can stop. Its SIGTRAP cannot be removed. */
	if (signals.trap_queued && signals.trap_kills)
		r->processes[task.process].is_doomed = true;
	if (state != 't' || !proc_place(tid, &task.pc, &task.sp))
		return true;
	if (code == SIGTRAP && signals.trap_kills)
		r->processes[task.process].is_doomed = true;
	const int status = last_stop(r, journal_task, tid, task.pc, task.sp, &sent_on);
	const bool has_hit = code ? code == SIGTRAP : rescue_is_trap(status) && !sent_on;

	if (has_hit && is_after_breakpoint(r, tid, task.pc, &task.address))
		rescue_hold(r, &task);
	return true;
}

/* number of tries without a nap: the tracer thread ends within microseconds, and the task then continues at once */
#define LOOKS_AT_ONCE 2000
#define NAP_NS        1000000
#define NAPS          10000 /* number of naps: the task may wait long for a CPU */

static void rescue_nap(unsigned n)
{
	if (n >= LOOKS_AT_ONCE)
		nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

void rescue_begin(struct rescue *r, const struct shared_state *shared, pid_t tracer)
{
	const size_t high = atomic_load(&shared->journal_task_high);

	*r = (struct rescue){.shared = shared, .tracer = tracer};
	const struct journal_task **running = xcalloc(JOURNAL_TASKS, sizeof(*running));
	size_t count = 0;

	for (size_t i = 0; i < high && i < JOURNAL_TASKS; i++)
		if (atomic_load(&shared->journal_tasks[i].tid) > 0 &&
		    !rescue_look_at(r, &shared->journal_tasks[i], false))
			running[count++] = &shared->journal_tasks[i];
	for (size_t i = 0; i < count; i++)
		for (unsigned n = 0; n < LOOKS_AT_ONCE + NAPS && !rescue_look_at(r, running[i], true); n++)
			rescue_nap(n);
	free(running);
}

/* ---- Correcting ---- */

static const struct arch *read_registers(pid_t tid, struct arch_regs *regs)
{
	struct iovec iov = {regs, sizeof(*regs)};

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &iov) < 0)
		return NULL;
	return arch_for_regset(iov.iov_len);
}

static bool write_registers(pid_t tid, const struct arch *arch, struct arch_regs *regs)
{
	struct iovec iov = {regs, arch->registers.size};

	return ptrace(PTRACE_SETREGSET, tid, (void *)NT_PRSTATUS, &iov) == 0;
}

static int rescue_read_memory(void *tid, uint64_t address, void *data, size_t size)
{
	unsigned char *bytes = data;

	while (size) {
		errno = 0;
		const long word = ptrace(PTRACE_PEEKDATA, *(pid_t *)tid, (void *)(uintptr_t)address, NULL);
		const size_t part = size < sizeof(word) ? size : sizeof(word);

		if (errno)
			return -errno;
		memcpy(bytes, &word, part);
		address += part;
		bytes += part;
		size -= part;
	}
	return 0;
}

static bool rescue_read_pointer(const struct arch_memory *memory, const struct arch *arch, uint64_t address,
				uint64_t *value)
{
	unsigned char bytes[sizeof(*value)];

	if (memory->read(memory->context, address, bytes, arch->pointer_size) < 0)
		return false;
	*value = arch_pointer(arch, bytes);
	return true;
}

/* Writes one pointer of the task's size. POKEDATA writes a word of this process's size, so for a smaller pointer the
 * word is read first. */
static bool write_pointer(pid_t tid, const struct arch *arch, uint64_t address, uint64_t value)
{
	const uint32_t narrow = (uint32_t)value;
	long word = (long)value;

	if (arch->pointer_size < sizeof(word)) {
		if (rescue_read_memory(&tid, address, &word, sizeof(word)) < 0)
			return false;
		memcpy(&word, &narrow, sizeof(narrow));
	}
	return ptrace(PTRACE_POKEDATA, tid, (void *)(uintptr_t)address, (void *)word) == 0;
}

#define FRAMES_MAX _NSIG /* at most one frame per signal */

/* Corrects the pc in the signal frame that will return to the task's old pc. Needed if signal handlers are about to
 * run. */
static bool correct_frame(const struct rescued_task *task, const struct arch *arch, uint64_t sp)
{
	pid_t tid = task->tid;
	const struct arch_memory memory = {.read = rescue_read_memory, .context = &tid};

	for (unsigned n = 0; n < FRAMES_MAX; n++) {
		uint64_t pc_at, sp_at, pc, outer;

		if (arch->signal.frame(sp, &memory, &pc_at, &sp_at) < 0 ||
		    !rescue_read_pointer(&memory, arch, pc_at, &pc) ||
		    !rescue_read_pointer(&memory, arch, sp_at, &outer))
			return false;
		if (pc == task->pc && outer == task->sp)
			return write_pointer(tid, arch, pc_at, task->address);
		sp = outer;
	}
	return false;
}

static bool correct(const struct rescue *r, const struct rescued_task *task)
{
	struct arch_regs regs;
	const struct arch *arch = read_registers(task->tid, &regs);

	if (!arch)
		return false;
	if (task->is_borrowed) {
		regs = r->shared->borrowed_regs;
		return write_registers(task->tid, arch, &regs) &&
		       ptrace(PTRACE_SETSIGMASK, task->tid, (void *)sizeof(r->shared->borrowed_mask),
			      &r->shared->borrowed_mask) == 0;
	}
	if (arch->registers.pc(&regs) != task->pc || arch->registers.sp(&regs) != task->sp)
		return correct_frame(task, arch, arch->registers.sp(&regs));
	arch->registers.set_pc(&regs, task->address);
	return write_registers(task->tid, arch, &regs);
}

/* Attaches to the task as soon as the engine's thread has released it. Returns 0 or an errno. Returns ESRCH also for a
 * task that has ended and was not reaped yet, for which the kernel reports EPERM. The engine's thread may release the
 * task after an attempt and before the look at its tracer, so one more attempt follows that look:
 *
 *	E:                 | releases |
 *	G: attempt: EPERM  |          | no tracer any more | attempt */
static int rescue_seize(const struct rescue *r, pid_t tid)
{
	bool is_released = false;
	int error = 0, code;

	for (unsigned n = 0; n < LOOKS_AT_ONCE + NAPS; n++) {
		error = ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0 ? errno : 0;
		if (error != EPERM || is_released)
			break;
		rescue_nap(n);
		is_released = n > LOOKS_AT_ONCE && proc_tracer(tid) != r->tracer;
	}
	if (error == EPERM) {
		const char state = state_of(tid, &code);

		error = state && state != 'Z' && state != 'X' ? EPERM : ESRCH;
	}
	return error;
}

/* Gets the task's next wait status. Returns false if none comes in time. */
static bool rescue_wait_for(pid_t tid, int *status)
{
	for (unsigned n = 0; n < LOOKS_AT_ONCE + NAPS; n++) {
		const pid_t got = waitpid(tid, status, __WALL | WNOHANG);

		if (got)
			return got == tid;
		rescue_nap(n);
	}
	return false;
}

/* Notes the launched target's exit if the guardian has become its parent and has reaped it here. */
static void rescue_note_end(struct rescue *r, pid_t tid, int status)
{
	if (tid != atomic_load(&r->shared->target))
		return;
	r->target_ended = true;
	r->target_status = status;
}

/* Corrects the task's registers. Returns false if that failed; *killed: true if the task was killed meanwhile. */
static bool corrects(const struct rescue *r, const struct rescued_task *task, bool *killed)
{
	errno = 0;
	const bool corrected = correct(r, task);

	*killed = !corrected && errno == ESRCH;
	return corrected;
}

/* Corrects the task's registers and removes the SIGSTOP that rescue_hold() has sent, unless the SIGSTOP has already
 * caused a group-stop. The SIGTRAP of another task may kill the process before this task is detached. Then the guardian
 * waits until the task has ended and reaps it, because the process cannot end before that:
 *
 *	task:          stops                             | is killed                        | has ended
 *	another task:      its SIGTRAP kills the process |
 *	G:                                               | corrects, detaches: ESRCH; waits | reaps it */
static void set_right(struct rescue *r, const struct rescued_task *task)
{
	struct rescued_process *const process = &r->processes[task->process];
	const int error = rescue_seize(r, task->tid);
	bool corrected = false, killed = false;
	int status;

	if (error == ESRCH)
		return;
	process->lost |= error != 0;
	if (error)
		return;
	ptrace(PTRACE_INTERRUPT, task->tid, NULL, NULL); /* ESRCH: the task is ending */
	while (rescue_wait_for(task->tid, &status)) {
		const int sig = WSTOPSIG(status), event = status >> 16;

		if (!WIFSTOPPED(status)) {
			rescue_note_end(r, task->tid, status);
			return;
		}
		corrected = corrected || corrects(r, task, &killed);
		if (!corrected && !killed)
			break;
		if (event && sig != SIGTRAP)
			process->stopped = true;
		if (((event && sig != SIGTRAP) || (!event && sig == SIGSTOP)) &&
		    ptrace(PTRACE_DETACH, task->tid, NULL, NULL) == 0)
			return;
		ptrace(PTRACE_CONT, task->tid, NULL, (void *)(long)(event ? 0 : sig));
	}
	process->lost |= !corrected;
}

void rescue_end(struct rescue *r)
{
	for (size_t i = 0; i < r->task_count; i++)
		set_right(r, &r->tasks[i]);
	for (size_t i = 0; i < r->process_count; i++) {
		const struct rescued_process *const process = &r->processes[i];

		if (process->lost)
			process_signal(process->handle, process->pid, SIGKILL);
		else if (process->stopped)
			process_signal(process->handle, process->pid, SIGCONT);
	}
	msg_debug(DBG_PROCESS, 1, "tasks whose registers are corrected: %zu", r->task_count);
}
