#include "config.h"
#include "scan/code_changes.h"
#include "ptrace/freeze_untraced.h"
#include "ptrace/target_memory.h"
#include "proc/proc.h"
#include "proc/refusal.h"
#include "base/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Writes the original instructions over the breakpoints. memory: a descriptor for the memory of a stopped task.
 * Returns how many were written; *error: the error of the last failure. */
static size_t put_back(const struct code_changes *changes, int memory, pid_t tid, int *error)
{
	size_t done = 0;

	for (size_t i = 0; i < changes->count; i++) {
		const struct code_change *change = &changes->items[i];

		if (change->kind != CODE_BREAKPOINT)
			continue;
		const int failure = memory_write_stopped(memory, tid, change->address, change->original, change->size);

		done += !failure;
		*error = failure ? failure : *error;
	}
	return done;
}

/* Repairs a process whose threads are stopped. Only breakpoints are removed. The copies of instructions in out-of-line
 * slots stay: no jump to them is left, but a thread may still be running one. */
static int repair_held(pid_t pid, const struct arch *arch)
{
	struct code_changes changes;
	int status = 1;
	const int error = code_changes_find(pid, arch, &changes);

	if (error) {
		refusal_of_attach(pid, -error);
	} else if (!changes.breakpoints) {
		msg_info("process %d: no breakpoint is in its code%s", pid,
			 changes.count ? "; its code differs from its files in other ways" : "");
		status = 0;
	} else if (changes.has_uprobes) {
		msg_error("process %d has %zu breakpoint%s in its code, the first in %s. The kernel may have set them "
			  "(uprobes: perf, bpftrace), so functrace has not removed them. End the program that uses "
			  "uprobes, and try again.",
			  pid, changes.breakpoints, changes.breakpoints == 1 ? "" : "s", changes.path);
	} else {
		const pid_t tid = proc_live_thread(pid);
		const int memory = proc_open(tid, "mem", O_RDWR);
		int failure = memory < 0 ? memory : 0;
		const size_t done = memory < 0 ? 0 : put_back(&changes, memory, tid, &failure);

		status = done != changes.breakpoints;
		if (status)
			msg_error("process %d: only %zu of %zu breakpoints could be removed from its code: %s.", pid,
				  done, changes.breakpoints, strerror(-failure));
		else
			msg_info("process %d: removed %zu breakpoint%s from its code, left there by a tracer that is "
				 "gone (the first in %s)",
				 pid, done, done == 1 ? "" : "s", changes.path);
		if (memory >= 0)
			close(memory);
	}
	code_changes_free(&changes);
	return status;
}

int code_repair(pid_t pid)
{
	const struct arch *arch = task_arch(proc_live_thread(pid));
	struct frozen_process frozen;

	if (!arch)
		return refusal_of_attach(pid, errno);
	int error = freeze_begin(&frozen, pid, arch);

	if (!error)
		error = freeze_stop(&frozen);
	const int status = error ? 1 : repair_held(pid, arch);

	freeze_end(&frozen);
	if (error == -EBUSY)
		msg_error(
			"process %d cannot be repaired: none of its threads can be stopped, because they wait deep in "
			"the kernel. Try again later.",
			pid);
	else if (error)
		refusal_of_attach(pid, -error);
	return status;
}
