/* The guardian (G): traces the tracer thread of the engine (E), and repairs the targets if the engine is killed.
 *
 * The guardian does nothing else. Actions of the terminal or the target do not stop or end it, so that it is running
 * when the engine dies; the visible process (V) may be stopped together with the target.
 *
 * The kernel detaches tracees when their tracer ends, in exit_notify(). Long before that, PTRACE_EVENT_EXIT stops the
 * tracer thread, because the guardian traces it:
 *
 *   E: SIGKILL | exit event, stops                                              | exit_notify(): detaches all
 *   G:                 | restores text | SIGSTOP to tasks to correct | releases E |   corrects them, detaches
 *   tracees:   running ones hit breakpoints | no breakpoints left               |   continue
 *
 * The guardian cannot help a task whose hit the engine has not collected yet: the kernel delivers its SIGTRAP. */
#include "config.h"
#include "engine/shared_state.h"
#include "engine/rescue_code.h"
#include "engine/rescue_tasks.h"
#include "base/msg.h"
#include "proc/proc.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct guardian {
	struct engine engine; /* passed to functions of engine.c when the guardian replaces the engine */
	struct guard_spaces spaces;
	struct rescue rescue;
	pid_t pid;    /* the engine */
	pid_t tracer; /* the engine's tracer thread while the guardian traces it, else 0 */
	int link, signals;
	size_t restored, failed;
	bool rescued; /* the engine was killed, and its tracees have been corrected as far as possible */
	bool ended;
	int status; /* the engine's wait status */
};

/* Attaches to the tracer thread, which yama permits because the guardian is the engine's parent. Attaching fails if
 * functrace itself is traced (strace, gdb). That is no error: the guardian then restores the text after the engine's
 * death. */
static void hold_tracer(struct guardian *g, pid_t tid)
{
	if (ptrace(PTRACE_SEIZE, tid, NULL, PTRACE_O_TRACEEXIT) < 0)
		msg_debug(DBG_PROCESS, 1, "the tracer's thread %d cannot be seized: %s", tid, strerror(errno));
	else
		g->tracer = tid;
	message_send(g->link, MESSAGE_NOTIFY, 0, -1);
}

/* Reads the engine's messages. Returns false if the engine has closed the link, because it has finished or is dead. */
static bool guardian_take_messages(struct guardian *g)
{
	struct message message;
	int fd, got;

	while ((got = message_receive(g->link, &message, &fd)) > 0) {
		if (message.type == MESSAGE_ADD_SPACE || message.type == MESSAGE_REMOVE_SPACE)
			guard_spaces_set(&g->spaces, message.space, fd);
		else if (fd >= 0)
			close(fd);
		if (message.type == MESSAGE_TRACER)
			hold_tracer(g, (pid_t)message.space);
	}
	return got != 0;
}

/* Restores the text, and finds the tasks that have to be corrected. Called when the engine was killed or ended
 * unexpectedly. While the tracer thread is stopped at its exit event, its tracees are still in their stops. */
static void rescue_target(struct guardian *g)
{
	g->rescued = true;
	g->engine.launch.pid = atomic_load(&g->engine.shared->target);
	guardian_take_messages(g);
	g->restored = rescue_code(g->engine.shared, &g->spaces, &g->failed);
	rescue_begin(&g->rescue, g->engine.shared, g->tracer);
}

/* Makes the guardian a subreaper, releases the tracer thread, and corrects the tasks. A launched target thereby becomes
 * the guardian's child. take_over() ends the role of subreaper, so that orphans of the target do not become the
 * guardian's children. */
static void let_tracer_end(struct guardian *g)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	ptrace(PTRACE_DETACH, g->tracer, NULL, NULL);
	rescue_end(&g->rescue);
	if (g->rescue.target_ended)
		engine_target_ended(&g->engine, g->rescue.target_status);
	g->tracer = 0;
}

/* Handles a stop of the tracer thread: delivers a signal, leaves the thread in a group-stop, and rescues the targets at
 * an exit event that comes before tracing is over. */
static void pass_stop(struct guardian *g, int status)
{
	const int sig = WSTOPSIG(status), event = status >> 16;

	if (event == PTRACE_EVENT_EXIT) {
		if (atomic_load(&g->engine.shared->tracer_done)) {
			ptrace(PTRACE_DETACH, g->tracer, NULL, NULL);
			g->tracer = 0;
			return;
		}
		rescue_target(g);
		let_tracer_end(g);
		return;
	}
	if (event == PTRACE_EVENT_STOP && sig != SIGTRAP && ptrace(PTRACE_LISTEN, g->tracer, NULL, NULL) == 0)
		return;
	ptrace(PTRACE_CONT, g->tracer, NULL, (void *)(long)(event ? 0 : sig));
}

static void take_children(struct guardian *g)
{
	int status;
	pid_t pid;

	while (!g->ended && (pid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
		if (pid == g->tracer && WIFSTOPPED(status))
			pass_stop(g, status);
		else if (pid == g->tracer)
			g->tracer = 0;
		if (pid == g->engine.launch.pid && !WIFSTOPPED(status))
			engine_target_ended(&g->engine, status);
		if (pid == g->pid && !WIFSTOPPED(status)) {
			g->ended = true;
			g->status = status;
		}
	}
}

#define END_MS         2000 /* longest wait for the exit of an engine that has finished its work, in ms */
#define END_READING_MS 100  /* longest wait, in ms, if a read in the engine may last for ever */

/* Returns true if the engine has finished its work, that is, has set `traced` and closed the link, or if it was killed
 * and its tracer thread has ended. linked: the link is open. The engine's exit may never be reported: the kernel
 * reports it only after all threads have ended, and a thread that reads a file which does not answer cannot be
 * killed. */
static bool is_over(const struct guardian *g, bool linked)
{
	return (!linked && atomic_load(&g->engine.shared->traced)) || (g->rescued && !g->tracer);
}

/* Returns true if the engine was killed, and one of its threads can end as soon as the thread gets a CPU, because this
 * thread does not wait for a file. */
static bool is_about_to_end(const struct guardian *g)
{
	return g->rescued && proc_find_thread(g->pid, proc_is_runnable);
}

static unsigned patience_ms(const struct guardian *g)
{
	return atomic_load(&g->engine.shared->is_reading) ? END_READING_MS : END_MS;
}

/* Waits until the engine has ended. If the engine has finished its work but cannot end, waits only for
 * patience_ms(). */
static void guardian_watch(struct guardian *g)
{
	bool linked = true;
	uint64_t over_at = 0;

	while (!g->ended) {
		struct pollfd fds[] = {{.fd = g->signals, .events = POLLIN},
				       {.fd = linked ? g->link : -1, .events = POLLIN}};
		struct signalfd_siginfo info;

		if (poll(fds, ARRAY_SIZE(fds), over_at ? (int)patience_ms(g) / 10 : -1) < 0 && errno != EINTR)
			sleep(1); /* out of kernel memory */
		if (fds[0].revents)
			while (read(g->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
				;
		take_children(g);
		if (fds[1].revents && linked)
			linked = guardian_take_messages(g);
		/* The engine may live as long as the target, but all write ends of the message queue's pipe must be
		 * closed when tracing is over. So the guardian closes its own write end, its standard error. */
		if (fds[1].revents && atomic_load(&g->engine.shared->traced))
			fds_null(STDERR_FILENO);
		if (is_over(g, linked) && (!over_at || is_about_to_end(g)))
			over_at = clock_ns(CLOCK_MONOTONIC);
		if (over_at && clock_ns(CLOCK_MONOTONIC) - over_at > patience_ms(g) * UINT64_C(1000000))
			return;
	}
}

/* ---- After the engine's end ---- */

/* Returns a clause for a message: which part of the trace, or of the watch's results, the engine's death has left. */
static const char *guardian_remains(const struct settings *settings)
{
	if (!settings->watch.is_wanted)
		return "the trace can be read up to the last record that was written";
	return settings->trace.output ? "the results of the watch up to the last interval are kept"
				      : "what the watch has seen since the last interval is lost";
}

static void guardian_report(struct guardian *g)
{
	char how[64] = "ended unexpectedly";

	if (WIFSIGNALED(g->status))
		snprintf(how, sizeof(how), "was killed by signal %d", WTERMSIG(g->status));
	msg_error("the tracing process %s. Tracing is over (breakpoints removed: %zu); %s", how, g->restored,
		  guardian_remains(g->engine.settings));
	rescue_report(&g->rescue);
	if (g->failed)
		msg_error("breakpoints that could not be removed: %zu. SIGTRAP kills a program that reaches one: "
			  "restart the traced programs as soon as you can",
			  g->failed);
}

/* Waits until the target has ended, because functrace must not end while the target uses the terminal. handle: the
 * target's pidfd, or -1; used if the target has not become the guardian's child, because the guardian could not trace
 * the tracer thread. */
static void outlive_target(struct guardian *g, int handle)
{
	engine_keep_target(&g->engine);
	if (atomic_load(&g->engine.shared->ended))
		return;
	while (handle >= 0) {
		struct pollfd end = {.fd = handle, .events = POLLIN};

		if (poll(&end, 1, -1) >= 0 || errno != EINTR)
			break;
	}
	msg_error("the exit status of %s is unknown, because the tracing process ended before the program",
		  g->engine.settings->target.argv[0]);
}

static void take_over(struct guardian *g)
{
	struct shared_state *const shared = g->engine.shared;
	const pid_t target = atomic_load(&shared->target);
	const bool lives = target && !atomic_load(&shared->ended);
	const int handle = lives ? process_handle(target) : -1;

	if (!g->rescued)
		rescue_target(g);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	guardian_report(g);
	atomic_store(&shared->engine_died, true);
	message_send(g->engine.socket, MESSAGE_NOTIFY, 0, -1);
	if (lives)
		outlive_target(g, handle);
}

/* ---- Starting ---- */

static void guardian_set_signals(const struct settings *settings)
{
	sigset_t blocked;

	engine_ignore_signals(settings);
	signal(SIGTERM, SIG_IGN);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
}

static int open_signals(void)
{
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	return signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void guardian_leave_descriptors(const struct guardian *g, const struct message_queue *messages)
{
	message_queue_enter(messages);
	const int keep[] = {g->engine.socket, g->engine.visible_handle, g->link};

	fds_null_others(keep, ARRAY_SIZE(keep));
	fds_null(STDIN_FILENO);
	fds_null(STDOUT_FILENO);
}

/* Reports why tracing cannot begin (`what` completes "functrace cannot ..."), and notes the failure in the shared
 * state. Returns 1. */
static int guardian_start_failed(struct shared_state *shared, const char *what)
{
	msg_error("tracing cannot begin: functrace cannot %s: %s", what, strerror(errno));
	atomic_store(&shared->result, 1);
	atomic_store(&shared->traced, true);
	return 1;
}

int guardian_main(const struct job *job, int socket)
{
	const struct settings *const settings = job->settings;
	struct shared_state *const shared = job->shared;
	struct guardian g = {
		.engine = {.settings = settings, .shared = shared, .socket = socket, .visible = job->visible}};
	int links[2];

	g.engine.visible_handle = process_handle(job->visible);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, links))
		return guardian_start_failed(shared, "make a socket pair");
	links[0] = g.link = fd_above_standard(links[0]);
	links[1] = fd_above_standard(links[1]);
	if (links[0] < 0 || links[1] < 0)
		return guardian_start_failed(shared, "duplicate descriptors");
	/* Forks the engine before the guardian changes its own state, because the target inherits that state. */
	g.pid = fork();
	if (g.pid < 0)
		return guardian_start_failed(shared, "start a process");
	if (g.pid == 0) {
		close(links[0]);
		exit(engine_main(job, socket, links[1]));
	}
	close(links[1]);
	engine_hide(shared, "ft-guard");
	guardian_set_signals(settings);
	guardian_leave_descriptors(&g, job->messages);
	g.signals = open_signals();
	if (g.signals < 0) {
		kill(g.pid, SIGTERM); /* the engine detaches its tracees and ends */
		return guardian_start_failed(shared, "receive signals");
	}
	fds_raise_limit();
	guardian_watch(&g);
	if (!atomic_load(&shared->traced))
		take_over(&g);
	guard_spaces_free(&g.spaces);
	return 0;
}
