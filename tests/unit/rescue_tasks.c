/* Tests the rescue of tasks that are stopped after a breakpoint when the engine is killed, also of tasks that are
 * killed before the guardian has detached from them. */
#include "config.h"
#include "engine/rescue_tasks.h"
#include "proc/proc.h"
#include "unit_test.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_S 60 /* after this time the processes of a failed test have ended */

static int deadly_request; /* the ptrace request before which a task is killed; 0: none */
static struct shared_state *shared;

/* The tracer that ends only after this many failed attempts to seize its tracee, just after the last; 0: none */
static pid_t late_tracer;
static unsigned late_attempts;

static void wait_for_state(pid_t pid, char wanted)
{
	struct proc_stat stat;

	while (proc_stat(pid, &stat) && stat.state != wanted)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

long __real_ptrace(int request, pid_t pid, void *address, void *data);
long __wrap_ptrace(int request, pid_t pid, void *address, void *data);
long __wrap_ptrace(int request, pid_t pid, void *address, void *data)
{
	if (request == deadly_request) {
		kill(pid, SIGKILL);
		wait_for_state(pid, 'Z');
		deadly_request = 0;
	}
	const long result = __real_ptrace(request, pid, address, data);
	const int error = errno;

	if (request == PTRACE_SEIZE && late_tracer && --late_attempts == 0) {
		kill(late_tracer, SIGKILL);
		waitpid(late_tracer, NULL, 0);
		late_tracer = 0;
	}
	errno = error;
	return result;
}

/* Lets any fault end this traced process. It may continue in the middle of an instruction, because the guardian sets
 * its pc back by the size of a breakpoint that never was there. */
static void run_anywhere(void)
{
	static const int signals[] = {SIGSEGV, SIGILL, SIGBUS, SIGFPE, SIGTRAP};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_DFL);
	alarm(PATIENCE_S);
}

/* Runs in the tracer: starts a child, stops it outside of all system calls, and sleeps. */
static void trace(int fd)
{
	const pid_t pid = fork();
	int status;

	if (!pid)
		run_anywhere();
	while (!pid)
		atomic_fetch_add(&shared->result, 1);
	alarm(PATIENCE_S);
	while (!atomic_load(&shared->result))
		;
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0 || ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0 ||
	    waitpid(pid, &status, __WALL) != pid || write(fd, &pid, sizeof(pid)) != sizeof(pid))
		_exit(1);
	for (;;)
		pause();
}

static pid_t start(pid_t *tracer)
{
	pid_t pid = 0;
	int ends[2];

	atomic_store(&shared->result, 0);
	assert_int_equal(pipe(ends), 0);
	*tracer = fork();
	if (!*tracer)
		trace(ends[1]);
	close(ends[1]);
	if (read(ends[0], &pid, sizeof(pid)) != sizeof(pid)) {
		waitpid(*tracer, NULL, 0);
		print_message("no process can be traced here\n");
		skip();
	}
	close(ends[0]);
	return pid;
}

/* Writes into the shared state that a breakpoint is just before the task's pc, and that the tracer has taken the task's
 * stop. */
static void place_breakpoint(pid_t tid, pid_t tracer)
{
	uint64_t pc, sp;

	if (!proc_place(tid, &pc, &sp)) {
		kill(tracer, SIGKILL);
		kill(tid, SIGKILL);
		while (wait(NULL) > 0)
			;
		print_message("this kernel does not report the pc of a task (ARM, where no pc has to be set back)\n");
		skip();
	}
	shared->notes[0].address = arch_native()->breakpoint.hit_address(pc);
	memcpy(shared->notes[0].original, (const void *)(uintptr_t)shared->notes[0].address, 1); /* it is a fork */
	atomic_store(&shared->note_high, 1);
	shared->journal_tasks[0].status = SIGTRAP << 8 | 0x7f;
	atomic_store(&shared->journal_tasks[0].tid, tid);
	atomic_store(&shared->journal_task_high, 1);
	atomic_store(&shared->target, tid);
}

/* Kills the tracer and lets the guardian repair its tracee. */
static struct rescue rescue_of(pid_t pid, pid_t tracer)
{
	struct rescue rescue;

	place_breakpoint(pid, tracer);
	rescue_begin(&rescue, shared, tracer);
	assert_int_equal(rescue.task_count, 1);
	if (!late_tracer) {
		kill(tracer, SIGKILL);
		assert_int_equal(waitpid(tracer, NULL, 0), tracer);
	}
	rescue_end(&rescue);
	return rescue;
}

static void finish(struct rescue *rescue)
{
	for (size_t i = 0; i < rescue->process_count; i++)
		close(rescue->processes[i].handle);
	free(rescue->processes);
	free(rescue->tasks);
}

static int set_up(void **state)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return shared == MAP_FAILED;
}

static int tear_down(void **state)
{
	return munmap(shared, sizeof(*shared));
}

/* The task continues at its breakpoint's instruction. */
static void test_stopped_task_continues_at_its_breakpoint(void **state)
{
	pid_t tracer;
	const pid_t pid = start(&tracer);
	struct rescue rescue = rescue_of(pid, tracer);

	assert_false(rescue.target_ended || rescue.processes[0].lost);
	assert_int_equal(proc_tracer(pid), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	finish(&rescue);
}

/* The tracer releases the task after an attempt of the guardian to seize it, and before the guardian looks whether the
 * task still has that tracer. */
static void test_task_of_a_late_tracer_is_not_lost(void **state)
{
	pid_t tracer;
	const pid_t pid = start(&tracer);

	late_tracer = tracer;
	late_attempts = 2010;
	struct rescue rescue = rescue_of(pid, tracer);

	assert_int_equal(late_tracer, 0);
	assert_false(rescue.target_ended || rescue.processes[0].lost);
	assert_int_equal(proc_tracer(pid), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	finish(&rescue);
}

/* The guardian reaps the task, because no other process can do so as long as the guardian lives. The task does not
 * count as lost. */
static void test_task_killed_meanwhile_is_reaped(void **state)
{
	static const int requests[] = {PTRACE_GETREGSET, PTRACE_SETREGSET, PTRACE_DETACH};

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		pid_t tracer;
		const pid_t pid = start(&tracer);

		deadly_request = requests[i];
		struct rescue rescue = rescue_of(pid, tracer);

		assert_int_equal(deadly_request, 0);
		assert_true(rescue.target_ended && WIFSIGNALED(rescue.target_status));
		assert_false(rescue.processes[0].lost);
		assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
		finish(&rescue);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_stopped_task_continues_at_its_breakpoint, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_task_of_a_late_tracer_is_not_lost, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_task_killed_meanwhile_is_reaped, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("rescue_tasks", tests, NULL, NULL);
}
