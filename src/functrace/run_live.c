#include "config.h"
#include "functrace/run_live.h"
#include "functrace/postproc_process.h"
#include "base/msg.h"
#include "base/time_units.h"
#include "live/live_view.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Creates a temporary file without a name for the tracer's messages, because on the terminal they would disturb the
 * view. Returns its descriptor, or -1 if it cannot be created. */
static int make_messages(void)
{
	char path[] = "/tmp/functrace-live-XXXXXX";
	const int fd = mkostemp(path, O_CLOEXEC);

	if (fd >= 0)
		unlink(path);
	return fd;
}

static void print_messages(int fd)
{
	char bytes[4096];
	ssize_t count;

	if (fd < 0)
		return;
	lseek(fd, 0, SEEK_SET);
	while ((count = read(fd, bytes, sizeof(bytes))) > 0)
		write_all(STDERR_FILENO, bytes, (size_t)count, NULL);
	close(fd);
}

/* Makes this process, the tracer, detach and end if its parent, the visible process, is killed: the kernel sends
 * SIGTERM then. */
static void end_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		raise(SIGTERM);
}

/* Runs functrace as without a view, except that its traces (src/record/view_pipe.h), or the results of its watch, are
 * sent to the view. */
static int run_tracer(struct settings *settings, int (*trace)(const struct settings *settings), int out, int messages)
{
	if (messages >= 0)
		dup2(messages, STDERR_FILENO);
	if (!settings->watch.has_view)
		settings->trace.output = "the view";
	settings->trace.output_fd = out;
	return trace(settings);
}

/* Starts the view, and returns its pid, or -1 after a message. in: the socket from which the view gets the traces, or
 * the pipe from which it gets rows. tracer: the process that the view may ask for a scan. */
static pid_t start_view(const struct settings *settings, int in, pid_t tracer)
{
	const struct report_settings *report = &settings->report;
	char **argv = xcalloc(report->option_count + 5, sizeof(*argv));
	char *const asked = settings->scan.request_signal ? xasprintf("--tracer=%d", (int)tracer) : NULL;
	size_t count = 0;

	argv[count++] = (char *)(uintptr_t)POSTPROC_NAME;
	for (size_t i = 0; i < report->option_count; i++)
		argv[count++] = report->options[i];
	if (asked)
		argv[count++] = asked;
	argv[count++] = (char *)(uintptr_t)(settings->watch.has_view ? "--live" : "--traces");
	argv[count] = (char *)(uintptr_t) "-";
	const pid_t pid = postproc_start(argv, in, -1);

	free(argv);
	free(asked);
	return pid;
}

/* Sets the signal by which the view asks for a scan, and blocks it, because it must not arrive before the tracer
 * handles it. */
static void choose_request_signal(struct settings *settings)
{
	sigset_t request;

	if (settings->target.toggle_signal == LIVE_SCAN_SIGNAL)
		return;
	settings->scan.request_signal = LIVE_SCAN_SIGNAL;
	sigemptyset(&request);
	sigaddset(&request, LIVE_SCAN_SIGNAL);
	sigprocmask(SIG_BLOCK, &request, NULL);
}

#define VIEW_END_SECONDS 2 /* seconds until a view that does not end is killed */

static volatile sig_atomic_t view_pid, tracer_pid, end_requested; /* used by the signal handlers */

/* Exits without waiting for the view, which may be blocked because its terminal is stopped. */
static void end_here(int sig)
{
	(void)sig;
	_exit(EXIT_SUCCESS);
}

static void end_view(int sig)
{
	(void)sig;
	kill(view_pid, SIGKILL);
	signal(SIGALRM, end_here);
	alarm(VIEW_END_SECONDS);
}

/* Handles SIGTERM and SIGHUP: makes the tracer detach at once, and the view end, even if the view or its terminal is
 * stopped. */
static void end_both(int sig)
{
	(void)sig;
	end_requested = 1;
	kill(tracer_pid, SIGTERM);
	kill(view_pid, SIGTERM);
	kill(view_pid, SIGCONT);
	alarm(VIEW_END_SECONDS);
}

static void run_live_take_signals(pid_t view, pid_t tracer)
{
	struct sigaction action = {.sa_handler = end_view, .sa_flags = SA_RESTART};
	struct sigaction before;

	view_pid = view;
	tracer_pid = tracer;
	sigaction(SIGALRM, &action, NULL);
	action.sa_handler = end_both;
	sigaction(SIGTERM, &action, NULL);
	if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
}

/* Makes the tracer detach and end, as Ctrl-C does, and waits for it. Returns its exit status. */
static int end_tracer(pid_t pid)
{
	int status;

	kill(pid, SIGINT);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILURE;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

int live_run_view(struct settings *settings, int (*trace)(const struct settings *settings))
{
	const int messages = make_messages();
	const bool is_watch = settings->watch.has_view;
	int sockets[2]; /* the view's socket, and the tracer's socket; the two ends of a pipe for a watch */

	if (is_watch ? pipe2(sockets, O_CLOEXEC) : socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets)) {
		msg_error("the live view cannot begin: functrace cannot make a %s: %s", is_watch ? "pipe" : "socket",
			  strerror(errno));
		return EXIT_FAILURE;
	}
	if (is_watch)
		msg_info("the first estimates come after %.3g s; until then, Ctrl-C detaches functrace",
			 (double)settings->watch.interval_ns / NS_PER_SECOND);
	else
		choose_request_signal(settings);
	fflush(NULL);
	const pid_t visible = getpid(), tracer = fork();

	if (tracer < 0) {
		msg_error("tracing cannot begin: functrace cannot start a process: %s", strerror(errno));
		return EXIT_FAILURE;
	}
	if (tracer == 0) {
		end_with(visible);
		close(sockets[0]);
		_exit(run_tracer(settings, trace, sockets[1], messages));
	}
	close(sockets[1]);
	/* Ctrl-C in the terminal also sends SIGINT to the view and to the tracer, which makes them end. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	const pid_t view_process = start_view(settings, sockets[0], tracer);

	close(sockets[0]);
	if (view_process > 0)
		run_live_take_signals(view_process, tracer);
	const int view = postproc_wait(view_process);

	/* The view has ended. Its pid may be that of another process now, so the handlers must not use it. */
	signal(SIGALRM, end_requested ? end_here : SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	if (signal(SIGHUP, SIG_IGN) != SIG_IGN)
		signal(SIGHUP, SIG_DFL);
	const int status = end_tracer(tracer);

	print_messages(messages);
	return view ? view : status;
}
