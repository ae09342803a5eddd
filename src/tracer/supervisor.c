/* V: starts E, keeps the terminal's manners, ends as the target ended, and repairs what E leaves
 * behind if that dies. */
#include "config.h"
#include "tracer/process.h"
#include "base/msg.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct supervisor {
	const struct settings *settings;
	struct board *board;
	struct guard_spaces spaces;
	sigset_t taken; /* the signals that `signals` (a signalfd) takes */
	int signals;
	int socket;
	int target; /* pidfd of the launched target, for the case that E dies; -1 */
	pid_t engine;
	int end_signal; /* SIGTERM or SIGHUP that asked to let go of a launched target */
};

static bool is_launched(const struct supervisor *s)
{
	return !s->settings->pid_count;
}

static void signals_read(struct signal_state *state)
{
	sigprocmask(SIG_SETMASK, NULL, &state->mask);
	for (int sig = 1; sig < _NSIG; sig++)
		if (sigaction(sig, NULL, &state->actions[sig]))
			state->actions[sig].sa_handler = SIG_DFL;
}

/* Blocks the signals that V acts on; they are taken through a signalfd, so that there is no handler
 * and no race. A signal that functrace was started to ignore (nohup, a script's background job)
 * stays ignored. While a launched target runs, INT, QUIT and TSTP are its own: taken and dropped.
 * When attached, V stops by TSTP as any program does. */
static void signals_choose(struct supervisor *s, const struct signal_state *state)
{
	static const int wanted[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP};

	sigemptyset(&s->taken);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		if (state->actions[wanted[i]].sa_handler != SIG_IGN &&
		    (wanted[i] != SIGTSTP || is_launched(s)))
			sigaddset(&s->taken, wanted[i]);
	if (s->settings->toggle_signal)
		sigaddset(&s->taken, s->settings->toggle_signal);
	sigprocmask(SIG_SETMASK, &s->taken, NULL);
}

static bool target_ended(const struct supervisor *s)
{
	return atomic_load(&s->board->ended);
}

static void let_go(struct supervisor *s, int sig)
{
	if (is_launched(s) && (sig == SIGTERM || sig == SIGHUP) && !s->end_signal)
		s->end_signal = sig;
	message_send(s->socket, MESSAGE_LET_GO, 0, -1);
}

static void take_signals(struct supervisor *s)
{
	const bool target_has_keyboard = is_launched(s) && !target_ended(s);
	struct signalfd_siginfo info;

	while (read(s->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		const int sig = (int)info.ssi_signo;

		msg_debug(DBG_PROCESS, 1, "signal %d", sig);
		if (sig == s->settings->toggle_signal)
			message_send(s->socket, MESSAGE_TOGGLE, 0, -1);
		else if (sig == SIGTERM || sig == SIGHUP || !target_has_keyboard) {
			/* What is traced still after the launched program's end (a daemon's child)
			 * is let go of by Ctrl-C. */
			if (sig == SIGTSTP)
				raise(SIGSTOP);
			else
				let_go(s, sig);
		}
	}
}

/* False at E's end. */
static bool take_messages(struct supervisor *s)
{
	struct message message;
	int fd, got;

	while ((got = message_receive(s->socket, &message, &fd)) > 0) {
		if (message.type == MESSAGE_ADD_SPACE || message.type == MESSAGE_REMOVE_SPACE)
			guard_spaces_set(&s->spaces, message.space, fd);
		else if (fd >= 0)
			close(fd);
	}
	return got != 0;
}

/* A handle of the target, for the case that E dies and nobody else can tell of its end. */
static void hold_target(struct supervisor *s)
{
	const pid_t target = atomic_load(&s->board->target);

	if (target && s->target < 0 && !target_ended(s))
		s->target = process_handle(target);
}

/* Until E has ended, or has told that it is done and only keeps a target company of which functrace
 * was to let go. */
static void supervise(struct supervisor *s)
{
	for (;;) {
		struct pollfd fds[] = {{.fd = s->socket, .events = POLLIN},
				       {.fd = s->signals, .events = POLLIN}};

		hold_target(s);
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
			sleep(1); /* out of kernel memory */
		if (fds[0].revents && !take_messages(s))
			return;
		if (fds[1].revents)
			take_signals(s);
		if (atomic_load(&s->board->traced) && s->end_signal && !target_ended(s))
			return;
	}
}

/* As long as the target runs it has the terminal, so functrace does not end before it although it
 * cannot tell its status any more. */
static void outlive_target(struct supervisor *s)
{
	sigset_t stop;

	hold_target(s); /* if E's first words and its end came together */
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop,
		    NULL); /* nobody else stops V together with the target now */
	while (s->target >= 0 && !s->end_signal) {
		struct pollfd fds[] = {{.fd = s->target, .events = POLLIN},
				       {.fd = s->signals, .events = POLLIN}};

		if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
			break;
		if (fds[0].revents)
			break;
		struct signalfd_siginfo info;

		if (fds[1].revents &&
		    read(s->signals, &info, sizeof(info)) == (ssize_t)sizeof(info) &&
		    (info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP))
			s->end_signal = (int)info.ssi_signo;
	}
}

/* E died before its work was done: first the text, then the words. */
static void engine_died(struct supervisor *s)
{
	size_t failed;
	const size_t repaired = guard_repair(s->board, &s->spaces, &failed);
	char how[64] = "ended unexpectedly";
	int status;

	if (waitpid(s->engine, &status, 0) == s->engine && WIFSIGNALED(status))
		snprintf(how, sizeof(how), "was killed by signal %d", WTERMSIG(status));
	msg_error("the tracing process %s. What it traced goes on untraced (breakpoints taken out: "
		  "%zu); the trace is "
		  "readable up to its last flush",
		  how, repaired);
	if (failed)
		msg_error("breakpoints that could not be taken out: %zu. A program that reaches "
			  "one is killed by "
			  "SIGTRAP: restart it as soon as you can",
			  failed);
	if (!is_launched(s) || target_ended(s))
		return;
	outlive_target(s);
	if (!s->end_signal)
		msg_error("the exit status of %s is not known, because the tracing process died "
			  "before it",
			  s->settings->argv[0]);
}

/* Ends as the target ended: the shell is to see its signal; the core file is the target's, not
 * functrace's. */
static int end_by(int sig)
{
	const struct rlimit none = {0, 0};
	sigset_t set;

	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0); /* a core_pattern with a pipe does not look at the limit */
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	kill(getpid(), sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return 128 + sig;
}

static int end_as_target(const struct board *board)
{
	const int status = atomic_load(&board->status);

	return WIFSIGNALED(status) ? end_by(WTERMSIG(status)) : WEXITSTATUS(status);
}

/* What functrace ends with, once E is done or dead. */
static int conclude(struct supervisor *s)
{
	struct board *const board = s->board;
	const bool done = atomic_load(&board->traced);
	const int result = atomic_load(&board->result);

	if (!done)
		engine_died(s);
	if (!is_launched(s))
		return done ? result : 1;
	if (done && result && !atomic_load(&board->started))
		return result;
	if (target_ended(s))
		return end_as_target(board);
	if (s->end_signal)
		return end_by(s->end_signal);
	return result ? result : 1;
}

static int start_failed(const char *what)
{
	msg_error("tracing cannot begin: %s: %s", what, strerror(errno));
	return 1;
}

/* V keeps stderr and its links: everything else that functrace was started with is the target's
 * alone. */
static void leave_descriptors(const struct supervisor *s)
{
	const int keep[] = {s->socket};

	fds_close_others(keep, ARRAY_SIZE(keep));
	fds_null(STDIN_FILENO);
	fds_null(STDOUT_FILENO);
	fd_fill(STDERR_FILENO);
}

int engine_run(const struct settings *settings)
{
	struct supervisor s = {.settings = settings, .target = -1};
	struct signal_state signals;
	int sockets[2];

	s.board = mmap(NULL, sizeof(*s.board), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s.board == MAP_FAILED)
		return start_failed("shared memory");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return start_failed("a socket pair");
	sockets[0] = s.socket = fd_above_standard(sockets[0]);
	sockets[1] = fd_above_standard(sockets[1]);
	if (sockets[0] < 0 || sockets[1] < 0)
		return start_failed("descriptors");
	signals_read(&signals);
	signals_choose(&s, &signals);
	const pid_t visible = getpid();

	fflush(NULL);
	s.engine = fork();
	if (s.engine < 0)
		return start_failed("a process");
	if (s.engine == 0)
		exit(engine_main(settings, s.board, sockets[1], visible, sockets[0], &signals));
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTTIN, SIG_DFL); /* E stops V by these */
	signal(SIGTTOU, SIG_DFL);
	leave_descriptors(&s);
	s.signals = signalfd(-1, &s.taken, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s.signals < 0)
		return start_failed("signals"); /* E sees the end of the socket and lets go */
	fds_raise_limit();
	supervise(&s);
	const int status = conclude(&s);

	guard_spaces_free(&s.spaces);
	return status;
}
