/* Tests the messages about the processes that were traced when the engine was killed. */
#include "config.h"
#include "engine/rescue_tasks.h"
#include "base/util.h"
#include "proc/proc.h"
#include "unit_test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THE_PID    4194305 /* no task has it: the highest possible pid is 4194303 */
#define THE_HANDLE 4194305

#define HELD_MS 400 /* longer than ENDS_MS, the wait for a process that seems to live on */

/* A process, and the holder, its parent and tracer, which delays the process's end for HELD_MS. */
struct held {
	pid_t pid, holder;
};

static pid_t start_pausing(void)
{
	const pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	return pid;
}

static void send_pid(int fd, pid_t pid)
{
	if (write(fd, &pid, sizeof(pid)) != sizeof(pid))
		_exit(3);
}

/* Runs in the holder. Starts a process, sends it the signal, and stops it just before its end. */
static void hold(int fd, int sig)
{
	const pid_t pid = start_pausing();
	int status;

	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)PTRACE_O_TRACEEXIT) < 0) {
		kill(pid, SIGKILL);
		send_pid(fd, -1);
		_exit(0);
	}
	kill(pid, sig);
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) && status >> 16 != PTRACE_EVENT_EXIT)
		ptrace(PTRACE_CONT, pid, NULL, (void *)(long)WSTOPSIG(status));
	send_pid(fd, pid);
	nanosleep(&(struct timespec){.tv_nsec = HELD_MS * 1000000}, NULL);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	waitpid(pid, &status, 0);
	_exit(0);
}

static struct held start_held(int sig)
{
	struct held held = {0};
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	held.holder = fork();
	if (!held.holder)
		hold(ends[1], sig);
	close(ends[1]);
	assert_int_equal(read(ends[0], &held.pid, sizeof(held.pid)), sizeof(held.pid));
	close(ends[0]);
	return held;
}

/* Returns the message about that process. The storage is static. */
static char *report_of(pid_t pid, bool is_doomed)
{
	struct rescue rescue = {.process_count = 1};
	const int errors = dup(STDERR_FILENO);
	static char said[4096];
	int ends[2];

	rescue.processes = calloc(1, sizeof(*rescue.processes));
	rescue.processes[0] = (struct rescued_process){.pid = pid,
						       .handle = pid == THE_PID ? THE_HANDLE : process_handle(pid),
						       .is_doomed = is_doomed,
						       .name = "it"};
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	rescue_report(&rescue);
	dup2(errors, STDERR_FILENO);
	close(errors);
	close(ends[1]);
	const ssize_t size = read(ends[0], said, sizeof(said) - 1);

	said[size < 0 ? 0 : size] = '\0';
	close(ends[0]);
	return said;
}

static void expect(const char *said, const char *words)
{
	if (!strstr(said, words))
		fail_msg("\"%s\" is not in: %s", words, said);
}

static void test_live_process_is_reported_as_running(void **state)
{
	const pid_t pid = start_pausing();

	expect(report_of(pid, false), "(it) runs on, untraced");
	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	expect(report_of(pid, false), "(it) runs on, untraced");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_zombie_is_reported_as_ended(void **state)
{
	const pid_t pid = start_pausing();

	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	expect(report_of(pid, false), "(it) has ended");
	expect(report_of(pid, true), "(it) was killed by SIGTRAP");
	waitpid(pid, NULL, 0);
}

/* The task has got a deadly signal, and the process takes long to end. */
static void test_process_with_a_deadly_signal_is_awaited(void **state)
{
	static const int signals[] = {SIGTRAP, SIGKILL};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		const struct held held = start_held(signals[i]);

		if (held.pid < 0) {
			waitpid(held.holder, NULL, 0);
			print_message("no process can be traced here\n");
			skip();
		}
		expect(report_of(held.pid, false), "(it) has ended");
		waitpid(held.holder, NULL, 0);
	}
}

/* ---- A made-up process with one task ---- */

#define LOOK_US 7 /* how long it takes to read a file of /proc */
#define MS      1000u

/* The state of the process that /proc shows from a moment on, until the next moment in the array begins. */
struct moment {
	unsigned from; /* us */
	char state;    /* 0: the process has ended */
	bool waits;    /* its SIGTRAP is pending */
	bool killed;   /* it is marked as ended by a signal */
	unsigned ran;  /* us */
};

static const struct moment *story; /* NULL: the real functions are called */
static size_t story_length;
static uint64_t now; /* us */

static const struct moment *at_present(void)
{
	size_t i = story_length;

	while (--i && story[i].from > now)
		;
	return &story[i];
}

/* Returns a file with this text. */
static int file_of(const char *text)
{
	const int fd = memfd_create("proc", MFD_CLOEXEC);

	assert_int_equal(pwrite(fd, text, strlen(text), 0), strlen(text));
	return fd;
}

/* Opens a file of the made-up process in /proc, or the real file if no story is played. */
static int open_by_story(const char *path, int flags)
{
	const char *const name = strrchr(path, '/');
	char text[128];

	if (!story)
		return openat(AT_FDCWD, path, flags);
	const struct moment *moment = at_present();

	now += LOOK_US;
	if (!moment->state) {
		errno = ENOENT;
		return -1;
	}
	if (!strcmp(name, "/stat"))
		snprintf(text, sizeof(text), "%d (it) %c 1 1 1 0 -1 %lu 0 0\n", THE_PID, moment->state,
			 moment->killed ? (unsigned long)PROC_KILLED : 0);
	else if (!strcmp(name, "/schedstat"))
		snprintf(text, sizeof(text), "%llu 0 1\n", moment->ran * 1000ull);
	else if (!strcmp(name, "/status"))
		snprintf(text, sizeof(text), "SigPnd:\t%016x\nSigBlk:\t%016x\n", moment->waits << (SIGTRAP - 1), 0);
	else
		fail_msg("%s is not known here", path);
	return file_of(text);
}

int __wrap_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);

int __wrap_open(const char *path, int flags, ...)
{
	return open_by_story(path, flags);
}

int __wrap_open64(const char *path, int flags, ...)
{
	return open_by_story(path, flags);
}

#define WRAPPED(type, name, ...)                                                                                       \
	type __real_##name(__VA_ARGS__);                                                                               \
	type __wrap_##name(__VA_ARGS__);                                                                               \
	type __wrap_##name(__VA_ARGS__)

static char tasks[] = "/tmp/functrace-rescue-XXXXXX"; /* in place of /proc/PID/task */

WRAPPED(DIR *, opendir, const char *path)
{
	if (!story)
		return __real_opendir(path);
	if (at_present()->state)
		return __real_opendir(tasks);
	errno = ENOENT;
	return NULL;
}

WRAPPED(int, nanosleep, const struct timespec *time, struct timespec *left)
{
	if (!story)
		return __real_nanosleep(time, left);
	now += (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_nsec / 1000;
	return 0;
}

WRAPPED(int, poll, struct pollfd *fds, nfds_t count, int milliseconds)
{
	if (!story)
		return __real_poll(fds, count, milliseconds);
	const uint64_t until = now + (uint64_t)milliseconds * MS;

	assert_int_equal(fds->fd, THE_HANDLE);
	while (at_present()->state && now < until) {
		const struct moment *next = at_present() + 1;

		now = next < story + story_length && next->from < until ? next->from : until;
	}
	return !at_present()->state;
}

WRAPPED(int, clock_gettime, clockid_t clock, struct timespec *time)
{
	if (!story)
		return __real_clock_gettime(clock, time);
	*time = (struct timespec){(time_t)(now / 1000000), (long)(now % 1000000) * 1000};
	return 0;
}

static int make_tasks(void **state)
{
	char task[64];

	assert_non_null(mkdtemp(tasks));
	snprintf(task, sizeof(task), "%s/%d", tasks, THE_PID);
	return mkdir(task, 0700);
}

static int remove_tasks(void **state)
{
	char task[64];

	snprintf(task, sizeof(task), "%s/%d", tasks, THE_PID);
	return rmdir(task) || rmdir(tasks);
}

/* Plays a story from time 0 and returns the message about its process. `now` is then the time at which the report was
 * complete. */
static char *story_report(const struct moment *moments, size_t count, bool is_doomed)
{
	story = moments;
	story_length = count;
	now = 0;
	char *said = report_of(THE_PID, is_doomed);

	story = NULL;
	return said;
}

#define STORY_REPORT(is_doomed, ...)                                                                                   \
	story_report((const struct moment[]){__VA_ARGS__},                                                             \
		     sizeof((const struct moment[]){__VA_ARGS__}) / sizeof(struct moment), is_doomed)

static void test_running_or_sleeping_task_is_reported_as_running(void **state)
{
	expect(STORY_REPORT(false, {.state = 'R', .ran = 50}, {.from = 180 * MS, .state = 'R', .ran = 4050},
			    {.from = 184 * MS, .state = 'R', .ran = 8050},
			    {.from = 188 * MS, .state = 'R', .ran = 12050}),
	       "(it) runs on, untraced");
	assert_in_range(now, 188 * MS, 198 * MS);
	/* The task falls asleep. */
	expect(STORY_REPORT(false, {.state = 'R', .ran = 50}, {.from = 180 * MS, .state = 'S', .ran = 51}),
	       "(it) runs on, untraced");
	assert_in_range(now, 180 * MS, 190 * MS);
}

/* The task was on a processor, but not for long enough to get its signal. */
static void test_task_that_hardly_ran_is_awaited(void **state)
{
	expect(STORY_REPORT(false, {.state = 'R', .ran = 50}, {.from = 150 * MS, .state = 'R', .ran = 55},
			    {.from = 300 * MS, .state = 'R', .ran = 60},
			    {.from = 700 * MS, .state = 'Z', .killed = true}, {.from = 1200 * MS}),
	       "(it) has ended");
}

/* The task was on a virtual processor that the host did not run for a while: the kernel counts this time for the task,
 * although the task has not run. */
static void test_time_taken_by_the_host_does_not_count(void **state)
{
	expect(STORY_REPORT(false, {.state = 'R', .ran = 50}, {.from = 150 * MS, .state = 'R', .ran = 8050},
			    {.from = 170 * MS, .state = 'R', .ran = 16050},
			    {.from = 400 * MS, .state = 'R', .waits = true, .ran = 16051},
			    {.from = 500 * MS, .state = 'D', .killed = true}, {.from = 700 * MS}),
	       "(it) has ended");
}

/* At the time `at` the signal ceases to be pending and the task is marked as killed. The test tries each microsecond of
 * the first looks at /proc, then about each millisecond. */
static void test_task_marked_as_killed_is_awaited(void **state)
{
	const unsigned looks = 100 * MS, last = 240 * MS;

	for (unsigned at = looks; at < last; at += at < looks + 20 * LOOK_US ? 1 : 997) {
		expect(STORY_REPORT(false, {.state = 'D', .waits = true}, {.from = at, .state = 'D', .killed = true},
				    {.from = at + 400 * MS}),
		       "(it) has ended");
		assert_in_range(now, at + 400 * MS, at + 500 * MS);
	}
}

/* The task's signal is no longer pending, and the task is not yet marked as killed. */
static void test_task_between_signal_and_mark_is_awaited(void **state)
{
	expect(STORY_REPORT(false, {.state = 'R', .waits = true, .ran = 50},
			    {.from = 150 * MS, .state = 'R', .ran = 60},
			    {.from = 900 * MS, .state = 'D', .killed = true}, {.from = 1200 * MS}),
	       "(it) has ended");
}

/* All waits together have a limit. */
static void test_all_waits_have_a_common_limit(void **state)
{
	const char *const words = "it is not known whether it lives";

	expect(STORY_REPORT(false, {.state = 'R', .ran = 50}), words);
	assert_in_range(now, 9990 * MS, 10200 * MS);
	expect(STORY_REPORT(false, {.state = 'D', .killed = true}), words);
	assert_in_range(now, 9990 * MS, 10200 * MS);
	expect(STORY_REPORT(true, {.state = 'R', .waits = true, .ran = 50}), words);
	assert_in_range(now, 9990 * MS, 10200 * MS);
	expect(STORY_REPORT(true, {.state = 'S'}), "(it) runs on, untraced");
	assert_in_range(now, 9990 * MS, 10200 * MS);
	expect(STORY_REPORT(true, {.state = 'R', .waits = true, .ran = 50}, {.from = 9990 * MS}),
	       "(it) was killed by SIGTRAP");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live_process_is_reported_as_running),
		cmocka_unit_test(test_zombie_is_reported_as_ended),
		cmocka_unit_test(test_process_with_a_deadly_signal_is_awaited),
		cmocka_unit_test(test_running_or_sleeping_task_is_reported_as_running),
		cmocka_unit_test(test_task_that_hardly_ran_is_awaited),
		cmocka_unit_test(test_task_marked_as_killed_is_awaited),
		cmocka_unit_test(test_task_between_signal_and_mark_is_awaited),
		cmocka_unit_test(test_all_waits_have_a_common_limit),
		cmocka_unit_test(test_time_taken_by_the_host_does_not_count),
	};

	return cmocka_run_group_tests_name("rescue", tests, make_tasks, remove_tasks);
}
