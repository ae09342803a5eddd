/* The visible process (V): starts the guardian (G), which starts the engine (E); obeys job control; ends as the target
 * ended. */
#include "config.h"
#include "engine/shared_state.h"
#include "base/msg.h"
#include "base/terminal_stop.h"
#include "proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

struct supervisor {
	const struct settings *settings;
	struct shared_state *shared;
	sigset_t taken; /* the signals that are read from `signals` (a signalfd) */
	int signals;
	int socket;
	pid_t guardian;
	struct message_queue messages;
	bool is_asked; /* a signal has requested to detach, at the time asked_at (CLOCK_MONOTONIC, ns) */
	uint64_t asked_at;
	int out;        /* the original standard output, for settings->conclude; -1: none */
	int end_signal; /* the SIGTERM or SIGHUP that requested to detach from a launched target */
};

static bool is_launched(const struct supervisor *s)
{
	return !s->settings->target.pid_count;
}

static void signals_read(struct signal_state *state)
{
	sigprocmask(SIG_SETMASK, NULL, &state->mask);
	for (int sig = 1; sig < _NSIG; sig++)
		if (sigaction(sig, NULL, &state->actions[sig]))
			state->actions[sig].sa_handler = SIG_DFL;
}

/* Returns true for a signal that was ignored when functrace started, and stays ignored. When attached, functrace keeps
 * ignoring only SIGHUP (nohup) and SIGTSTP: background jobs of a script ignore SIGINT, but a user makes functrace
 * detach by kill -INT. */
static bool stays_ignored(const struct supervisor *s, const struct signal_state *state, int sig)
{
	return state->actions[sig].sa_handler == SIG_IGN && (is_launched(s) || sig == SIGHUP || sig == SIGTSTP);
}

/* Blocks the signals that the visible process acts on. That process reads them from a signalfd, so that there is no
 * handler and no race. A signal that was ignored when functrace started (nohup, a script's background job) stays
 * ignored if a target is launched, because the target ignores it too. While the target runs, INT, QUIT and TSTP are
 * meant for the target: functrace reads and drops them. When attached, functrace stops by TSTP as any program does. */
static void signals_choose(struct supervisor *s, const struct signal_state *state)
{
	static const int wanted[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP};

	sigemptyset(&s->taken);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		if (!stays_ignored(s, state, wanted[i]) && (wanted[i] != SIGTSTP || is_launched(s)))
			sigaddset(&s->taken, wanted[i]);
	if (s->settings->target.toggle_signal)
		sigaddset(&s->taken, s->settings->target.toggle_signal);
	if (s->settings->scan.request_signal)
		sigaddset(&s->taken, s->settings->scan.request_signal);
	sigprocmask(SIG_SETMASK, &s->taken, NULL);
	/* Replaces an inherited SIG_IGN, because a system may discard a blocked signal that is ignored (POSIX). The
	 * target gets its actions from `state`. */
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		if (sigismember(&s->taken, wanted[i]))
			signal(wanted[i], SIG_DFL);
}

static bool target_ended(const struct supervisor *s)
{
	return atomic_load(&s->shared->ended);
}

static void supervisor_let_go(struct supervisor *s, int sig)
{
	if (is_launched(s) && (sig == SIGTERM || sig == SIGHUP) && !s->end_signal)
		s->end_signal = sig;
	s->is_asked = true;
	s->asked_at = clock_ns(CLOCK_MONOTONIC);
	message_send(s->socket, MESSAGE_LET_GO, 0, -1);
}

static void supervisor_take_signals(struct supervisor *s)
{
	const bool target_has_keyboard = is_launched(s) && !target_ended(s);
	struct signalfd_siginfo info;

	while (read(s->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		const int sig = (int)info.ssi_signo;

		msg_debug(DBG_PROCESS, 1, "signal %d", sig);
		if (sig == s->settings->target.toggle_signal)
			message_send(s->socket, MESSAGE_TOGGLE, 0, -1);
		else if (sig == s->settings->scan.request_signal)
			message_send(s->socket, MESSAGE_SCAN, 0, -1);
		else if (sig == SIGTERM || sig == SIGHUP || !target_has_keyboard) {
			/* Ctrl-C also detaches from processes that are still traced after the launched program has
			 * ended (a daemon's child). */
			if (sig != SIGTSTP)
				supervisor_let_go(s, sig);
			else if (!atomic_load(&s->shared->traced)) /* otherwise functrace is about to end */
				stop_by_terminal();
		}
	}
}

/* Reads notifications: messages that say that the shared state (shared_state.h) has changed. Returns false when both
 * the engine and the guardian have ended. */
static bool supervisor_take_messages(struct supervisor *s)
{
	struct message message;
	int fd, got;

	while ((got = message_receive(s->socket, &message, &fd)) > 0)
		if (fd >= 0)
			close(fd);
	return got != 0;
}

/* Waits until the engine and the guardian have ended, or, after SIGTERM or SIGHUP, until they only wait for the exit of
 * a launched target. */
static void supervise(struct supervisor *s)
{
	for (;;) {
		struct pollfd fds[] = {{.fd = s->socket, .events = POLLIN}, {.fd = s->signals, .events = POLLIN}};

		if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
			sleep(1); /* out of kernel memory */
		if (fds[0].revents && !supervisor_take_messages(s))
			return;
		if (fds[1].revents)
			supervisor_take_signals(s);
		if ((atomic_load(&s->shared->traced) || atomic_load(&s->shared->engine_died)) && s->end_signal &&
		    !target_ended(s))
			return;
	}
}

#define STUCK_LOOK_MS 100

/* Waits, as any program does, until all messages are written, however long the terminal is stopped. If a signal has
 * requested to detach, stops waiting when nothing could be written for a second. */
static void show_messages(struct supervisor *s)
{
	bool has_ended = false;

	message_queue_end(&s->messages);
	while (!has_ended && !(s->is_asked && message_queue_is_stuck(&s->messages, s->asked_at))) {
		struct pollfd fds[] = {{.fd = s->messages.done, .events = POLLIN},
				       {.fd = s->signals, .events = POLLIN}};

		if (poll(fds, ARRAY_SIZE(fds), s->is_asked ? STUCK_LOOK_MS : -1) < 0)
			continue;
		has_ended = fds[0].revents;
		if (fds[1].revents)
			supervisor_take_signals(s);
	}
	message_queue_close(&s->messages, has_ended);
}

/* Ends this process by the signal that ended the target, or that requested to detach from it, so that the shell sees
 * the signal. Writes no core file, because a target that was to write one has written it. */
static int end_by(int sig)
{
	const struct rlimit none = {0, 0};
	sigset_t set;

	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0); /* a core_pattern with a pipe ignores RLIMIT_CORE */
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	kill(getpid(), sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return 128 + sig;
}

static int end_as_target(const struct shared_state *shared)
{
	const int status = atomic_load(&shared->status);

	return WIFSIGNALED(status) ? end_by(WTERMSIG(status)) : WEXITSTATUS(status);
}

/* Returns true if the target was killed before its exec. The engine's result then is the status that a shell returns
 * for such a signal, and functrace ends as for any other target that was killed. */
static bool was_killed_early(const struct supervisor *s, int result)
{
	const int status = atomic_load(&s->shared->status);

	return target_ended(s) && WIFSIGNALED(status) && result == 128 + WTERMSIG(status);
}

/* Returns the exit status of the launched program, or ends functrace by the signal that ended the program or requested
 * to detach. If no program was started, returns functrace's own status. done: the engine has ended by itself, with
 * `result`. */
static int own_status(const struct supervisor *s, bool done, int result)
{
	if (!is_launched(s))
		return done ? result : 1;
	if (!atomic_load(&s->shared->started) && (result || !done) && !was_killed_early(s, result))
		return result ? result : 1;
	if (target_ended(s))
		return end_as_target(s->shared);
	if (s->end_signal)
		return end_by(s->end_signal);
	return result ? result : 1;
}

/* Returns the exit status of functrace, after the engine has finished or died. */
static int conclude_run(struct supervisor *s)
{
	struct shared_state *const shared = s->shared;
	const bool done = atomic_load(&shared->traced);
	const int result = atomic_load(&shared->result);

	if (!s->end_signal || target_ended(s))
		waitpid(s->guardian, NULL, 0); /* the engine and the guardian have both ended */
	if (!done && !atomic_load(&shared->engine_died))
		msg_error("the tracing process and its guardian ended unexpectedly, and the breakpoints are still in "
			  "the traced programs. SIGTRAP kills a program that reaches one: restart the programs as "
			  "soon as you can");
	show_messages(s);
	const int concluded = s->settings->conclude ? s->settings->conclude(s->settings, s->out, done && !result) : 0;

	if (concluded > 0)
		return concluded;
	const int status = own_status(s, done, result);

	return status ? status : -concluded;
}

/* Reports why tracing cannot begin. `what` completes "functrace cannot ...". Returns 1. */
static int supervisor_start_failed(const char *what)
{
	msg_error("tracing cannot begin: functrace cannot %s: %s", what, strerror(errno));
	return 1;
}

/* Redirects to /dev/null all descriptors except the original standard output (s->out), standard error, and those that
 * connect the processes. The others that functrace was started with belong to the target. */
static void supervisor_leave_descriptors(const struct supervisor *s)
{
	const int keep[] = {s->socket, s->out, s->messages.in, s->messages.out, s->messages.to};

	fds_null_others(keep, ARRAY_SIZE(keep));
	fds_null(STDIN_FILENO);
	fds_null(STDOUT_FILENO);
	fd_fill(STDERR_FILENO);
}

/* Returns true if the process group is orphaned, as far as this process can see: no ancestor is in its session and
 * outside of its group. */
static bool is_orphaned(void)
{
	const pid_t group = getpgrp(), session = getsid(0);

	for (pid_t pid = getppid(); pid > 0 && getsid(pid) == session; pid = proc_parent(pid))
		if (getpgid(pid) != group)
			return false;
	return true;
}

/* Checks that /proc is mounted and shows the PIDs of this PID namespace, because functrace reads all facts about
 * processes there. */
static bool check_proc(void)
{
	char self[32];
	struct statfs mount;
	const ssize_t length = readlink("/proc/self", self, sizeof(self) - 1);

	if (length > 0) {
		self[length] = '\0';
		if (atoi(self) == getpid())
			return true;
	}
	if (statfs("/proc", &mount) || mount.f_type != PROC_SUPER_MAGIC)
		msg_error("/proc is not mounted, and functrace needs it (as root: mount -t proc proc /proc)");
	else
		msg_error("/proc shows the processes of another PID namespace, and functrace needs the /proc of its "
			  "own namespace (as root, here: mount -t proc proc /proc)");
	return false;
}

int engine_run(const struct settings *settings, engine_tracer *tracer)
{
	struct supervisor s = {.settings = settings, .out = -1};
	struct signal_state signals;
	int sockets[2];

	if (!check_proc())
		return 1;
	s.shared = mmap(NULL, sizeof(*s.shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			0);
	if (s.shared == MAP_FAILED)
		return supervisor_start_failed("map shared memory");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return supervisor_start_failed("make a socket pair");
	sockets[0] = s.socket = fd_above_standard(sockets[0]);
	sockets[1] = fd_above_standard(sockets[1]);
	if (sockets[0] < 0 || sockets[1] < 0)
		return supervisor_start_failed("duplicate descriptors");
	if (message_queue_open(&s.messages, &s.shared->lost_messages))
		return supervisor_start_failed("make a pipe");
	s.shared->is_orphaned = is_orphaned();
	if (settings->conclude)
		s.out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	signals_read(&signals);
	signals_choose(&s, &signals);
	const struct job job = {.settings = settings,
				.tracer = tracer,
				.shared = s.shared,
				.visible = getpid(),
				.signals = &signals,
				.messages = &s.messages};

	fflush(NULL);
	s.guardian = fork();
	if (s.guardian < 0)
		return supervisor_start_failed("start a process");
	if (s.guardian == 0) {
		close(sockets[0]);
		exit(guardian_main(&job, sockets[1]));
	}
	close(sockets[1]);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTTIN, SIG_DFL); /* the engine stops this process with SIGTTIN and SIGTTOU */
	signal(SIGTTOU, SIG_DFL);
	supervisor_leave_descriptors(&s);
	s.signals = signalfd(-1, &s.taken, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s.signals < 0)
		/* the engine reads end-of-file from the socket and detaches */
		return supervisor_start_failed("receive signals");
	if (message_queue_start(&s.messages))
		return supervisor_start_failed("start a thread");
	fds_raise_limit();
	supervise(&s);
	return conclude_run(&s);
}
