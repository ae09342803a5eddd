/* What has become of the processes that were traced when E was killed. */
#include "config.h"
#include "engine/rescue.h"
#include "base/msg.h"
#include "proc/proc.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#define ENDS_MS   100   /* who is about to end has ended by then */
#define RUN_MS    10    /* who has a processor has been given its signal by then */
#define DOOMED_MS 10000 /* whoever has still to get a processor for it */

static bool dumps_core(pid_t pid)
{
	char *status = proc_read(pid, "status", NULL);
	uint64_t dumps = 0;

	proc_status_number(status, "CoreDumping", 0, 10, &dumps);
	free(status);
	return dumps;
}

static bool has_ended(const struct rescued_process *process, int milliseconds)
{
	struct pollfd end = {.fd = process->handle, .events = POLLIN};

	if (process->handle < 0)
		return kill(process->pid, 0) < 0 && errno == ESRCH;
	return poll(&end, 1, milliseconds) > 0 || dumps_core(process->pid);
}

/* A task that waits for a processor, and for how long it had been on one. */
struct ready_task {
	pid_t tid;
	uint64_t ran;
};

struct ready {
	struct ready_task *tasks;
	size_t count, capacity;
};

static bool is_ready(pid_t tid, uint64_t *ran)
{
	struct proc_stat stat;

	return proc_stat(tid, &stat) && stat.state == 'R' && proc_run_time(tid, ran);
}

static bool note_ready(void *context, pid_t tid)
{
	struct ready *const ready = context;
	uint64_t ran;

	if (!is_ready(tid, &ran))
		return true;
	ARRAY_GROW(ready->tasks, ready->capacity, ready->count);
	ready->tasks[ready->count++] = (struct ready_task){tid, ran};
	return true;
}

static void forget_run(struct ready *ready)
{
	uint64_t ran;

	for (size_t i = 0; i < ready->count;)
		if (is_ready(ready->tasks[i].tid, &ran) && ran == ready->tasks[i].ran)
			i++;
		else
			ready->tasks[i] = ready->tasks[--ready->count];
}

/* A task may have run into a breakpoint just before that was taken out, and wait for a processor ever since, before it
 * has been given its SIGTRAP: nothing tells it from one that runs. So all that are ready are to run once more.
 *
 *	task: runs into the breakpoint | no processor                        | its SIGTRAP
 *	G:                             | text back | looks: it is ready, no signal waits |
 */
static bool ends_when_run(const struct rescued_process *process)
{
	struct ready ready = {0};

	proc_each_thread(process->pid, note_ready, &ready);
	const bool any = ready.count;

	for (unsigned n = 0; ready.count && n < DOOMED_MS && !has_ended(process, 0); n++) {
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		forget_run(&ready);
	}
	free(ready.tasks);
	return any && has_ended(process, RUN_MS);
}

/* Stops at the first task that a signal ends: its process will have ended, in its time. Nobody takes a SIGTRAP away any
 * more that neither waits nor is the program's own. */
static bool is_spared(void *context, pid_t tid)
{
	const uint64_t trap = 1ull << (SIGTRAP - 1), kill = 1ull << (SIGKILL - 1);
	bool *const killed = context;
	struct proc_stat stat;
	uint64_t pending = 0, blocked = 0;

	if (!proc_stat(tid, &stat))
		return true;
	char *status = proc_read(tid, "status", NULL);

	proc_status_number(status, "SigPnd", 0, 16, &pending);
	proc_status_number(status, "SigBlk", 0, 16, &blocked);
	free(status);
	*killed = (stat.flags & PROC_KILLED) || (pending & (kill | (trap & ~(blocked | stat.caught | stat.ignored))));
	return !*killed;
}

/* Of many tasks on few processors the last may be long in ending. (Those that another one's exec ends leave a process
 * behind that lives.) */
static bool ends_when_killed(const struct rescued_process *process)
{
	for (unsigned n = 0; n < DOOMED_MS / ENDS_MS; n++) {
		bool killed = false;

		proc_each_thread(process->pid, is_spared, &killed);
		if (!killed)
			return has_ended(process, n ? RUN_MS : 0);
		if (has_ended(process, ENDS_MS))
			return true;
	}
	return false;
}

#define NAMED_MAX 8

void rescue_report(struct rescue *r)
{
	const uint64_t start = clock_ns(CLOCK_MONOTONIC);
	size_t lives = 0, named = 0;

	for (size_t i = 0; i < r->process_count; i++) {
		struct rescued_process *const process = &r->processes[i];
		const uint64_t passed = (clock_ns(CLOCK_MONOTONIC) - start) / 1000000;
		const uint64_t patience = process->is_doomed ? DOOMED_MS : ENDS_MS;
		const bool ended = has_ended(process, passed < patience ? (int)(patience - passed) : 0) ||
				   ends_when_run(process) || ends_when_killed(process);

		lives += !ended;
		if (named++ >= NAMED_MAX)
			continue;
		if (process->lost)
			msg_error(
				"process %d (%s) had to be killed: a thread of it could not be taken back to where it "
				"was",
				process->pid, process->name);
		else if (ended && process->is_doomed)
			msg_error("process %d (%s) was killed by SIGTRAP: a thread of it had just hit a breakpoint",
				  process->pid, process->name);
		else if (ended)
			msg_error("process %d (%s) has ended", process->pid, process->name);
		else
			msg_error("process %d (%s) runs on, untraced", process->pid, process->name);
	}
	if (named > NAMED_MAX)
		msg_error("of %zu traced processes %zu run on, untraced", r->process_count, lives);
	for (size_t i = 0; i < r->process_count; i++)
		if (r->processes[i].handle >= 0)
			close(r->processes[i].handle);
	free(r->processes);
	free(r->tasks);
	*r = (struct rescue){0};
}
