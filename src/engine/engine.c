/* The engine (E). Its main thread is the target's parent until the target ends, and receives the messages of the
 * visible process (V); the tracer thread runs the engine_tracer that functrace/functrace_main.c passes. */
#include "config.h"
#include "engine/shared_state.h"
#include "base/msg.h"
#include "base/time_units.h"
#include "base/worker.h"
#include "proc/proc.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TICK_NS       NS_PER_SECOND
#define WAKE_AGAIN_MS 20

/* ---- For the tracer thread ---- */

unsigned engine_take_requests(struct engine *engine)
{
	if (!atomic_load_explicit(&engine->requests, memory_order_relaxed))
		return 0;
	const unsigned requests = atomic_exchange(&engine->requests, 0);

	if (requests & REQUEST_LET_GO)
		atomic_store(&engine->lets_go, true);
	return requests;
}

bool engine_has_request(const struct engine *engine, unsigned requests)
{
	return atomic_load_explicit(&engine->requests, memory_order_relaxed) & requests;
}

void engine_want_tick(struct engine *engine)
{
	if (atomic_load_explicit(&engine->tick_wanted, memory_order_relaxed))
		return;
	atomic_store(&engine->tick_wanted, true);
	eventfd_write(engine->wake_fd, 1);
}

void engine_set_alarm(struct engine *engine, uint64_t at)
{
	atomic_store(&engine->alarm_at, at);
	eventfd_write(engine->wake_fd, 1);
}

void engine_request(struct engine *engine, unsigned requests)
{
	atomic_fetch_or(&engine->requests, requests);
	eventfd_write(engine->wake_fd, 1);
}

bool engine_take_wake_child(struct engine *engine, pid_t pid)
{
	int expected = pid;

	return pid > 0 && atomic_compare_exchange_strong(&engine->wake_child, &expected, 0);
}

const int *engine_let_go_fd(const struct engine *engine)
{
	return &engine->let_go;
}

/* Tells the visible process to read the shared state (shared_state.h). Does not wait, because that process may be
 * stopped. If the socket is full, this message is not needed, because the visible process still has messages to read.
 * Returns false if the visible process has ended. */
static bool notify_visible(struct engine *engine)
{
	return message_send(engine->socket, MESSAGE_NOTIFY, 0, -1) != -EPIPE;
}

static void signal_visible(struct engine *engine, int sig)
{
	/* Without a pidfd, notify_visible() shows that the process has not ended, so its pid is not reused. */
	if (engine->visible_handle >= 0 || notify_visible(engine))
		process_signal(engine->visible_handle, engine->visible, sig);
}

/* Returns the foreground group of the visible process's terminal, or -1. Reads it from /proc, because tcgetpgrp() fails
 * for a terminal of another session. */
static pid_t foreground_of(pid_t visible)
{
	struct proc_stat stat;

	return proc_stat(visible, &stat) ? stat.foreground : -1;
}

pid_t engine_visible(const struct engine *engine)
{
	return engine->visible;
}

bool engine_has_terminal(const struct engine *engine)
{
	return engine->terminal >= 0;
}

bool engine_in_foreground(const struct engine *engine)
{
	if (!engine_has_terminal(engine))
		return false;
	const pid_t group = engine->shared->is_orphaned ? foreground_of(engine->visible) : tcgetpgrp(engine->terminal);

	return group > 0 && group == getpgid(engine->visible);
}

void engine_started(struct engine *engine)
{
	if (engine->settings->target.duration_ns && !atomic_load(&engine->let_go_at)) {
		atomic_store(&engine->let_go_at, clock_ns(CLOCK_MONOTONIC) + engine->settings->target.duration_ns);
		eventfd_write(engine->wake_fd, 1);
	}
	atomic_store(&engine->shared->started, true);
	notify_visible(engine);
}

/* Stops the visible process by a signal, not by a message; engine_target_continued() continues it by a signal as well.
 * Signals of one sender keep their order. If the visible process stopped itself on a message, a SIGCONT could come
 * before that stop and be lost. */
void engine_target_stopped(struct engine *engine, int sig)
{
	if (!engine->launch.pid)
		return;
	msg_debug(DBG_PROCESS, 1, "the target is stopped by signal %d", sig);
	atomic_store(&engine->shared->stopped, true);
	/* With SIGTTIN or SIGTTOU the shell prints why a background job stopped. The visible process blocks SIGTSTP, so
	 * it gets SIGSTOP instead. */
	signal_visible(engine, sig == SIGTTIN || sig == SIGTTOU ? sig : SIGSTOP);
}

void engine_target_continued(struct engine *engine)
{
	if (!atomic_exchange(&engine->shared->stopped, false))
		return;
	msg_debug(DBG_PROCESS, 1, "the target goes on");
	signal_visible(engine, SIGCONT);
}

void engine_target_ended(struct engine *engine, int status)
{
	struct shared_state *const shared = engine->shared;

	if (!engine->launch.pid || atomic_load(&shared->ended))
		return;
	atomic_store(&shared->status, status);
	atomic_store(&shared->ended, true);
	engine_target_continued(engine);
	notify_visible(engine);
}

/* ---- The main thread ---- */

static int note_wake_child(void *context)
{
	struct engine *const engine = context;

	atomic_store(&engine->wake_child, getpid());
	return 0;
}

/* Makes the tracer thread's wait return, by a child that exits at once. The child itself writes its pid, into memory
 * that it shares with the engine, before it can be reaped. It shares the descriptors, too: with copies of those of the
 * kernel's probes it would keep them a moment longer than the tracer knows. There is one child at a time, so that
 * children do not accumulate while the tracer is busy. Returns false if the caller has to try again soon. */
static bool wake_tracer(struct engine *engine)
{
	static _Alignas(16) unsigned char stack[8192];

	if (!atomic_load(&engine->requests))
		return true;
	if (atomic_load(&engine->wake_child))
		return false;
	return clone(note_wake_child, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, engine) >
	       0;
}

/* Reads the visible process's messages. Returns false if the visible process has ended. */
static bool read_requests(struct engine *engine, unsigned *requests)
{
	struct message message;
	int fd, got;

	while ((got = message_receive(engine->socket, &message, &fd)) > 0) {
		if (fd >= 0)
			close(fd);
		if (message.type == MESSAGE_LET_GO)
			*requests |= REQUEST_LET_GO;
		else if (message.type == MESSAGE_TOGGLE)
			*requests |= REQUEST_TOGGLE;
		else if (message.type == MESSAGE_SCAN)
			*requests |= REQUEST_SCAN;
	}
	if (got == 0)
		*requests |= REQUEST_LET_GO;
	return got != 0;
}

static int engine_milliseconds_until(uint64_t time)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	const uint64_t left = time <= now ? 0 : (time - now + 999999) / 1000000;

	return left > INT_MAX ? INT_MAX : (int)left;
}

/* True if the engine got a SIGTERM on which it has not acted yet. The signal is blocked except while the main thread
 * sleeps in ppoll(). A signalfd is not used, because the kernel would wake the thread that polls it for every signal,
 * also for SIGCHLD, which comes at each stop of a task. */
static volatile sig_atomic_t terminated;

static void note_termination(int sig)
{
	(void)sig;
	terminated = 1;
}

/* Waits as poll() does; SIGTERM ends the wait. */
static void engine_sleep_until(struct pollfd *fds, nfds_t count, int milliseconds)
{
	const struct timespec time = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
	sigset_t blocked;

	sigprocmask(SIG_SETMASK, NULL, &blocked);
	sigdelset(&blocked, SIGTERM);
	if (ppoll(fds, count, milliseconds < 0 ? NULL : &time, &blocked) >= 0)
		return;
	for (nfds_t i = 0; i < count; i++)
		fds[i].revents = 0;
	if (errno != EINTR)
		sleep(1); /* out of kernel memory */
}

/* Returns the shorter of a timeout for ppoll() (-1: none) and the milliseconds until `time` (0: none). */
static int sooner(int timeout, uint64_t time)
{
	const int left = time ? engine_milliseconds_until(time) : -1;

	return left < 0 || (timeout >= 0 && timeout < left) ? timeout : left;
}

/* Serves the requests of the visible process, and the timers, until the tracer thread ends. */
static void listen_to_visible(struct engine *engine)
{
	bool linked = true, woken = true;
	uint64_t tick_at = 0, due_at = 0, end_at, alarm_at;

	while (!atomic_load(&engine->shared->tracer_done)) {
		struct pollfd fds[] = {{.fd = engine->wake_fd, .events = POLLIN},
				       {.fd = linked ? engine->socket : -1, .events = POLLIN}};

		unanswered_check(engine, &due_at);
		end_at = atomic_load(&engine->let_go_at);
		alarm_at = atomic_load(&engine->alarm_at);
		int timeout = sooner(sooner(sooner(sooner(-1, tick_at), end_at), due_at), alarm_at);

		if (!woken && (timeout < 0 || timeout > WAKE_AGAIN_MS))
			timeout = WAKE_AGAIN_MS;
		engine_sleep_until(fds, ARRAY_SIZE(fds), timeout);
		unsigned requests = 0;
		eventfd_t rings;

		if (fds[0].revents && !eventfd_read(engine->wake_fd, &rings)) {
			if (!tick_at && atomic_load(&engine->tick_wanted))
				tick_at = clock_ns(CLOCK_MONOTONIC) + TICK_NS;
			/* engine_request() wakes this thread, too; then this thread has to wake the tracer thread. */
			woken = false;
		}
		if (end_at && !engine_milliseconds_until(end_at)) {
			atomic_store(&engine->let_go_at, UINT64_MAX);
			requests |= REQUEST_LET_GO;
		}
		if (terminated) {
			terminated = 0;
			requests |= REQUEST_LET_GO;
		}
		if (fds[1].revents)
			linked = read_requests(engine, &requests);
		if (tick_at && !engine_milliseconds_until(tick_at)) {
			tick_at = 0;
			atomic_store(&engine->tick_wanted, false);
			requests |= REQUEST_TICK;
		}
		/* If the tracer has set another time meanwhile, this one is void. */
		if (alarm_at && !engine_milliseconds_until(alarm_at) &&
		    atomic_compare_exchange_strong(&engine->alarm_at, &alarm_at, 0))
			requests |= REQUEST_ALARM;
		if (requests) {
			atomic_fetch_or(&engine->requests, requests);
			if (requests & REQUEST_LET_GO)
				eventfd_write(engine->let_go, 1);
			woken = false;
		}
		if (!woken)
			woken = wake_tracer(engine);
	}
}

/* Waits until the launched target has ended, so that its parent lives as long as the target. Otherwise the target's
 * process group would be orphaned, and the kernel's SIGHUP would kill a stopped target. */
void engine_keep_target(struct engine *engine)
{
	const pid_t pid = engine->launch.pid;
	int status;

	/* Waits for all children, because this also runs in the guardian, which may still trace a thread of the target.
	 * If SIGTRAP kills the target, that thread must be reaped before the kernel reports the target's exit. */
	while (pid && !atomic_load(&engine->shared->ended)) {
		const pid_t got = waitpid(-1, &status, __WALL | WUNTRACED | WCONTINUED);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			break; /* ECHILD: the tracer has reaped the target */
		if (got != pid)
			continue;
		if (WIFSTOPPED(status))
			engine_target_stopped(engine, WSTOPSIG(status));
		else if (WIFCONTINUED(status))
			engine_target_continued(engine);
		else
			engine_target_ended(engine, status);
	}
}

#define GUARD_PATIENCE_MS 5000

/* Waits until the guardian traces this thread or reports that it cannot, but at most GUARD_PATIENCE_MS. Tasks are
 * attached only afterwards. If the guardian has ended, the closed link ends the wait. */
static void wait_for_guardian(struct engine *engine)
{
	struct pollfd link = {.fd = engine->link, .events = POLLIN};

	engine->tracer_tid = gettid();
	message_send(engine->link, MESSAGE_TRACER, (uint32_t)engine->tracer_tid, -1);
	while (poll(&link, 1, GUARD_PATIENCE_MS) < 0 && errno == EINTR)
		;
}

static void *tracer_thread(void *context)
{
	struct engine *const engine = context;

	wait_for_guardian(engine);
	const int result = engine->tracer(engine, engine->settings, &engine->launch);

	atomic_store(&engine->shared->result, result);
	atomic_store(&engine->shared->tracer_done, true);
	eventfd_write(engine->wake_fd, 1);
	return NULL;
}

/* Ignores the signals of the terminal and of closed outputs, which the engine must survive, and sets SIGCHLD to its
 * default: the engine could not wait for children if it had inherited SIGCHLD as ignored. SIGTERM makes the engine
 * detach from the target. */
static void engine_set_signals(const struct settings *settings)
{
	sigset_t blocked;

	engine_ignore_signals(settings);
	signal(SIGTERM, note_termination);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGCHLD); /* SIGCHLD must stay queued: wait_named() uses it */
	sigaddset(&blocked, SIGALRM); /* exec_lock.c unblocks it in the tracer thread */
	sigprocmask(SIG_SETMASK, &blocked, NULL);
}

static int engine_open(struct engine *engine)
{
	engine->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	engine->let_go = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (engine->wake_fd < 0 || engine->let_go < 0)
		return -errno;
	engine->visible_handle = process_handle(engine->visible);
	guard_init(engine);
	return 0;
}

/* Redirects inherited descriptors to /dev/null, because they belong to the target. Keeps stdout if that is the trace,
 * and the terminal for tcgetpgrp(). */
static void engine_leave_descriptors(struct engine *engine, const struct message_queue *messages)
{
	if (isatty(messages->to))
		engine->terminal = messages->to;
	message_queue_enter(messages);
	const int keep[] = {engine->socket,
			    engine->link,
			    engine->launch.gate,
			    engine->launch.exec_error,
			    engine->settings->trace.output_fd,
			    engine->terminal};

	fds_null_others(keep, ARRAY_SIZE(keep));
	fds_null(STDIN_FILENO);
	if (!engine->settings->trace.output || strcmp(engine->settings->trace.output, "-"))
		fds_null(STDOUT_FILENO);
}

static int engine_serve(struct engine *engine)
{
	pthread_t thread;
	const int error = pthread_create(&thread, NULL, tracer_thread, engine);

	if (error) {
		msg_error("tracing cannot begin: functrace cannot start a thread: %s", strerror(error));
		return 1;
	}
	listen_to_visible(engine);
	pthread_join(thread, NULL);
	/* pthread_join() returns before the thread has ended; only then the kernel detaches the last tracees. */
	while (engine->tracer_tid && syscall(SYS_tgkill, getpid(), engine->tracer_tid, 0) == 0)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	return atomic_load(&engine->shared->result);
}

#define SETTLE_MS 1000

/* Called when no task is attached any more. Waits until the last messages fit into the pipe to the visible process. The
 * wait is limited if that process may be stopped together with the target, because then only the engine can continue
 * both. */
static void settle_messages(const struct engine *engine)
{
	const bool has_target = engine->launch.pid && !atomic_load(&engine->shared->ended);

	msg_settle(has_target ? SETTLE_MS : -1);
}

int engine_main(const struct job *job, int socket, int link)
{
	const struct settings *const settings = job->settings;
	struct shared_state *const shared = job->shared;
	struct engine engine = {
		.settings = settings,
		.shared = shared,
		.tracer = job->tracer,
		.socket = socket,
		.link = link,
		.visible = job->visible,
		.terminal = -1,
		.launch = {.gate = -1, .exec_error = -1},
	};
	int error = 0;

	/* Forks the target first, because the target inherits the engine's process group, which is still that of the
	 * visible process here. */
	if (!settings->target.pid_count) {
		const int links[] = {socket, link, job->messages->in, job->messages->out};

		error = launch_fork(&engine.launch, settings, job->signals, links, ARRAY_SIZE(links));
		atomic_store(&shared->target, engine.launch.pid);
	}
	engine_leave_descriptors(&engine, job->messages);
	engine_hide(shared, "ft-engine");
	engine_set_signals(settings);
	if (!error)
		error = engine_open(&engine);
	if (error) {
		msg_error("tracing cannot begin: %s", strerror(-error));
		atomic_store(&shared->result, 1);
	} else {
		fds_raise_limit();
		atomic_store(&shared->result, engine_serve(&engine));
		settle_messages(&engine);
	}
	if (engine.launch.pid && engine.launch.gate >= 0)
		kill(engine.launch.pid, SIGKILL); /* the target would wait at its gate for ever */
	atomic_store(&shared->traced, true);
	message_send(engine.link, MESSAGE_NOTIFY, 0, -1);
	notify_visible(&engine);
	/* From here on the engine may outlive functrace: as long as the target runs, or a thread reads a file that does
	 * not answer. Meanwhile it must not keep a pipe open. */
	if ((engine.launch.pid && !atomic_load(&shared->ended)) || workers_are_busy()) {
		fds_null(STDOUT_FILENO);
		fds_null(STDERR_FILENO);
		if (engine.terminal >= 0)
			fds_null(engine.terminal);
	}
	engine_keep_target(&engine);
	if (settings->trace.output_fd > STDERR_FILENO)
		close(settings->trace.output_fd);
	close(engine.socket);
	/* A worker thread that reads a file which does not answer may keep this process from ever ending. */
	atomic_store(&shared->is_reading, workers_are_busy());
	close(engine.link); /* shows the guardian that the engine is about to end */
	const int result = atomic_load(&shared->result);

	guard_free(&engine);
	return result;
}
