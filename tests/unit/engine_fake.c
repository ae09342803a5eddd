/* A tracer for the tests of the process structure: it seizes the target, passes all signals on, and reports the end. It
 * sets no breakpoints except one at FAKE_BREAKPOINT=ADDRESS (for the guard's tests). */
#include "config.h"
#include "engine/shared_state.h"
#include "functrace/run_repair.h"
#include "functrace/run_scan.h"
#include "functrace/run_watch.h"
#include "tracer/tracer.h"
#include "base/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	struct engine *engine;
	const struct settings *settings;
	struct launch *launch;
	bool execed, stopped;
	unsigned ticks, toggles;
	int space, mem;
	long journal_index;
	uint64_t address;
	unsigned char original;
} fake;

static int seize(pid_t pid)
{
	const long options = PTRACE_O_TRACEEXEC;
	siginfo_t ended = {0};

	if (!ptrace(PTRACE_SEIZE, pid, NULL, (void *)options))
		return 0;
	/* If the child has died, the loop reports its end. */
	if (!waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT | WNOHANG) && ended.si_pid == pid)
		return 0;
	msg_error("process %d cannot be traced: %s", (int)pid, strerror(errno));
	return 1;
}

static void plant(pid_t pid)
{
	const char *const text = getenv("FAKE_BREAKPOINT");
	const unsigned char breakpoint = 0xcc;
	char path[64];

	if (!text || fake.address || !parse_number(text, UINT64_MAX, &fake.address))
		return;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fake.mem = open(path, O_RDWR | O_CLOEXEC);
	fake.space = guard_add_space(fake.engine, fake.mem);
	if (pread(fake.mem, &fake.original, 1, (off_t)fake.address) != 1)
		msg_die("FAKE_BREAKPOINT cannot be read");
	fake.journal_index = guard_note(fake.engine, fake.space, fake.address, &fake.original, &breakpoint, 1);
	if (fake.journal_index < 0 || pwrite(fake.mem, &breakpoint, 1, (off_t)fake.address) != 1)
		msg_die("FAKE_BREAKPOINT cannot be written");
}

static void unplant(void)
{
	if (!fake.address)
		return;
	if (pwrite(fake.mem, &fake.original, 1, (off_t)fake.address) == 1)
		guard_clear(fake.engine, fake.journal_index);
	guard_remove_space(fake.engine, fake.space);
	close(fake.mem);
	fake.address = 0;
}

/* Reports a stop of the traced process to the engine if the engine needs it, and resumes the process. */
static void report_and_resume(pid_t pid, int status)
{
	const int sig = WSTOPSIG(status), event = status >> 16;
	const bool is_target = pid == fake.launch->pid;

	if (event == PTRACE_EVENT_EXEC && is_target && !fake.execed) {
		fake.execed = true;
		engine_started(fake.engine);
	} else if (event == PTRACE_EVENT_STOP && sig != SIGTRAP) {
		fake.stopped = true;
		if (is_target)
			engine_target_stopped(fake.engine, sig);
		ptrace(PTRACE_LISTEN, pid, NULL, NULL);
		return;
	} else if (event == PTRACE_EVENT_STOP && fake.stopped) {
		fake.stopped = false;
		if (is_target)
			engine_target_continued(fake.engine);
	} else if (!event) {
		ptrace(PTRACE_CONT, pid, NULL, (void *)(long)sig);
		return;
	}
	ptrace(PTRACE_CONT, pid, NULL, NULL);
}

/* Interrupts the traced process, waits for its next stop, and detaches. If the process has ended instead, reports
 * this. */
static void detach(pid_t pid)
{
	int status, sig = 0;

	if (!ptrace(PTRACE_INTERRUPT, pid, NULL, NULL)) {
		for (;;) {
			const pid_t got = wait4(pid, &status, __WALL, NULL);

			if (got < 0 && errno == EINTR)
				continue;
			if (got < 0)
				return;
			if (!WIFSTOPPED(status)) {
				if (pid == fake.launch->pid)
					engine_target_ended(fake.engine, status);
				return;
			}
			break;
		}
		if (!(status >> 16))
			sig = WSTOPSIG(status);
	}
	unplant();
	ptrace(PTRACE_DETACH, pid, NULL, (void *)(long)sig);
}

static int traced_ended(pid_t pid, int status)
{
	if (pid != fake.launch->pid)
		return 0;
	if (!fake.execed) {
		const int failure = launch_failure(fake.launch, fake.settings->target.argv[0]);

		if (failure)
			return failure;
	}
	engine_target_ended(fake.engine, status);
	return 0;
}

/* FAKE_CRASH=1: dies at the first tick. FAKE_LOSE=1: gives up tracing at the first tick, and returns true. */
static bool at_tick(pid_t pid)
{
	/* Ticks before the exec are ignored, because functrace would rightly say that the program was not started. On a
	 * busy machine, the exec may come later than the first tick. */
	if (fake.launch->pid && !fake.execed)
		return false;
	fake.ticks++;
	if (getenv("FAKE_TICKS"))
		msg_info("tick %u", fake.ticks);
	if (getenv("FAKE_CRASH"))
		raise(SIGKILL);
	if (getenv("FAKE_LOSE")) {
		msg_error("the trace is lost");
		detach(pid);
		return true;
	}
	return false;
}

static int loop(pid_t pid)
{
	for (;;) {
		int status;
		const pid_t got = wait4(-1, &status, __WALL, NULL);
		const unsigned requests = engine_take_requests(fake.engine);

		if (got < 0 && errno != EINTR)
			return 0;
		if (got > 0 && got != pid && !engine_take_wake_child(fake.engine, got))
			msg_error("an unknown child: %d", (int)got);
		if (got == pid && !WIFSTOPPED(status))
			return traced_ended(pid, status);
		if (got == pid)
			report_and_resume(pid, status);
		if (requests & REQUEST_TOGGLE)
			msg_info("toggle %u", ++fake.toggles);
		if (requests & REQUEST_LET_GO) {
			if (getenv("FAKE_SLOW")) {
				/* The limit is set only now, because on a busy machine this thread may need longer to
				 * take the request. */
				unanswered_limit_ns = 300000000;
				msg_info("detaches slowly");
				while (!usleep(100000) && !engine_has_request(fake.engine, REQUEST_TOGGLE))
					;
			}
			detach(pid);
			return 0;
		}
		if ((requests & REQUEST_TICK) && at_tick(pid))
			return 1;
		if (getenv("FAKE_TICKS") || getenv("FAKE_CRASH") || getenv("FAKE_LOSE"))
			engine_want_tick(fake.engine);
	}
}

int tracer_run(struct engine *engine, const struct settings *settings, struct launch *launch)
{
	const pid_t pid = launch->pid ? launch->pid : settings->target.pids[0];

	fake.engine = engine;
	fake.settings = settings;
	fake.launch = launch;
	if (getenv("FAKE_FAIL")) {
		msg_error("tracing is refused");
		return 1;
	}
	/* The limit is set before a test sees the breakpoint, because the test then sends SIGTERM, and the engine reads
	 * the limit. */
	if (getenv("FAKE_HANG"))
		unanswered_limit_ns = 1000000000;
	if (seize(pid))
		return 1;
	if (launch->pid)
		launch_open_gate(launch);
	else {
		plant(pid);
		engine_started(engine);
		msg_info("attached to %d", (int)pid);
	}
	if (getenv("FAKE_CRASH") || getenv("FAKE_LOSE") || getenv("FAKE_TICKS"))
		engine_want_tick(engine);
	while (getenv("FAKE_HANG"))
		pause();
	const int result = loop(pid);

	msg_info("the summary");
	return result;
}

void watch_run_prepare(struct settings *settings)
{
	(void)settings;
}

int repair_run(const struct settings *settings)
{
	(void)settings;
	return 1;
}

int scan_run(const struct settings *settings)
{
	printf("scan %d\n", (int)settings->target.pids[0]);
	return 0;
}
