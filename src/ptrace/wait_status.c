/* Decodes wait statuses: see wait_status.h. */
#include "config.h"
#include "ptrace/wait_status.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

static bool stops_a_group(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

bool stops_or_continues(int sig)
{
	return stops_a_group(sig) || sig == SIGCONT;
}

static enum stop_kind kind_of_event(unsigned event, int sig)
{
	switch (event) {
	case 0:
		return sig == SIGTRAP ? STOP_TRAP : STOP_SIGNAL;
	case PTRACE_EVENT_STOP:
		return stops_a_group(sig) ? STOP_GROUP : STOP_INTERRUPT;
	case PTRACE_EVENT_CLONE:
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
		return STOP_NEW_TASK;
	case PTRACE_EVENT_VFORK_DONE:
		return STOP_VFORK_DONE;
	case PTRACE_EVENT_EXEC:
		return STOP_EXEC;
	case PTRACE_EVENT_EXIT:
		return STOP_EXIT;
	default:
		/* An event that was not requested is handled like an interruption. */
		return STOP_INTERRUPT;
	}
}

struct stop stop_decode(pid_t tid, int status, enum task_phase phase)
{
	struct stop stop = {.tid = tid, .status = status};

	if (!WIFSTOPPED(status)) {
		stop.kind = phase == PHASE_UNKNOWN ? STOP_STRANGER : STOP_GONE;
		return stop;
	}
	stop.signal = WSTOPSIG(status);
	stop.event = (unsigned)status >> 16;
	stop.kind = kind_of_event(stop.event, stop.signal);
	/* The kernel may report a clone's child before or after its maker's event. The child's first stop is an
	 * EVENT_STOP, or an exit event if the child was killed before it ran. */
	if (stop.kind == STOP_EXIT || stop.kind == STOP_EXEC)
		return stop;
	if (phase == PHASE_UNKNOWN)
		stop.kind = STOP_BORN_EARLY;
	else if (phase == PHASE_EXPECTED)
		stop.kind = STOP_BORN;
	return stop;
}
