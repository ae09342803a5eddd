/* Explains why a process cannot be traced: see refusal.h. */
#include "config.h"
#include "proc/refusal.h"
#include "proc/proc.h"
#include "proc/process_search.h"
#include "base/msg.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOOKS 20 /* number of checks whether another tracer has detached */

static bool has_other_tracer(pid_t tid)
{
	const pid_t tracer = proc_tracer(tid);

	return tracer && tracer != gettid();
}

/* Prints that another tracer traces thread `traced` of process `pid`. `what` completes "cannot ...": "attach to process
 * 12", "trace ls". advice: a sentence that says what to do. */
static void explain_tracer(const char *what, pid_t pid, pid_t traced, const char *advice)
{
	const pid_t tracer = proc_tracer(traced);
	char *const name = process_started_name(tracer);

	if (!tracer)
		msg_error("cannot %s: another tracer, which has just gone, traced %s. Try again.", what,
			  traced == pid ? "it" : "a thread of it");
	else
		msg_error("cannot %s: process %d (%s) traces %s already, and a process can have only one tracer. %s",
			  what, tracer, name, traced == pid ? "it" : "a thread of it", advice);
	free(name);
}

static bool has_other_owner(pid_t tid)
{
	const long owner = proc_owner(tid);

	return owner >= 0 && (uid_t)owner != geteuid();
}

static void explain_denied(const char *what, pid_t pid, bool is_launch)
{
	char *scope = read_file("/proc/sys/kernel/yama/ptrace_scope", 16, NULL);
	const pid_t other = proc_find_thread(pid, has_other_owner);

	if (scope && scope[0] == '3')
		msg_error("cannot %s: kernel.yama.ptrace_scope is 3, which forbids all tracing. Set it lower in "
			  "/etc/sysctl.d and reboot: a running system cannot lower it.",
			  what);
	else if (geteuid() == 0 && !proc_may_trace_all())
		msg_error(
			"cannot %s: functrace runs as root, but without the capability SYS_PTRACE. Add the capability "
			"(to a container: --cap-add=SYS_PTRACE).",
			what);
	else if (other == pid)
		msg_error("cannot %s: it belongs to user %ld. Run functrace as that user, or as root.", what,
			  proc_owner(pid));
	else if (other)
		msg_error("cannot %s: its thread %d belongs to user %ld. Run functrace as root.", what, other,
			  proc_owner(other));
	else if (scope && scope[0] >= '1' && scope[0] <= '2')
		msg_error("cannot %s: kernel.yama.ptrace_scope is %c, which allows it only to root. %s functrace as "
			  "root, or run 'sysctl kernel.yama.ptrace_scope=0' as root.",
			  what, scope[0],
			  is_launch || scope[0] == '2' ? "Run" : "Start the program under functrace, run");
	else
		msg_error("cannot %s: not permitted. %sun functrace as root; in a container, add the capability "
			  "SYS_PTRACE (--cap-add=SYS_PTRACE).",
			  what, is_launch ? "R" : "The process may be privileged or not dumpable; r");
	free(scope);
}

const char *refusal_reason(int error)
{
	switch (error) {
	case ENOEXEC:
		return "its program is made for a processor that this functrace does not know";
	case ETIMEDOUT:
		return "its program's file could not be read in time, and that file says for which processor the "
		       "program is made";
	default:
		return strerror(error);
	}
}

int refusal_of_attach(pid_t pid, int error)
{
	const pid_t traced = proc_find_thread(pid, has_other_tracer);
	struct proc_stat stat = {0};
	const bool exists = proc_stat(pid, &stat);
	char what[48];

	snprintf(what, sizeof(what), "attach to process %d", pid);
	if (!exists || error == ESRCH)
		msg_error("cannot attach to process %d: there is no such process (any more).", pid);
	else if (stat.flags & PROC_KERNEL_THREAD)
		msg_error("cannot attach to process %d: it is a kernel thread, which has no program.", pid);
	else if (traced || error == REFUSED_BY_TRACER)
		explain_tracer(what, pid, traced ? traced : pid, "End that tracer first.");
	/* ENOENT: the kernel removes the files of an ended process from /proc before it removes the last thread. */
	else if (!proc_live_thread(pid) || error == ENOENT)
		msg_error("cannot attach to process %d: it has ended, and its parent has not waited for it (a zombie).",
			  pid);
	else if (error == EPERM || error == EACCES)
		explain_denied(what, pid, false);
	else
		msg_error("cannot attach to process %d: %s.%s", pid, refusal_reason(error),
			  error == ETIMEDOUT ? " Try again when the file can be read." : "");
	return 1;
}

int refusal_before_attach(pid_t pid)
{
	struct proc_stat stat;

	if (!proc_stat(pid, &stat))
		return refusal_of_attach(pid, ESRCH);
	if (stat.flags & PROC_KERNEL_THREAD)
		return refusal_of_attach(pid, EPERM);
	/* Wait up to 40 ms for another tracer to detach, because a functrace that scans the process detaches soon. */
	for (unsigned i = 0; i < LOOKS && has_other_tracer(pid); i++)
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	return has_other_tracer(pid) ? refusal_of_attach(pid, REFUSED_BY_TRACER) : 0;
}

void refusal_of_launch(pid_t pid, const char *program, int error)
{
	char *const what = xasprintf("trace %s", program);

	if (has_other_tracer(pid))
		explain_tracer(what, pid, pid, "Start functrace outside of that tracer.");
	else if (error == EPERM)
		explain_denied(what, pid, true);
	else
		msg_error("cannot %s: %s.", what, strerror(error));
	free(what);
}
